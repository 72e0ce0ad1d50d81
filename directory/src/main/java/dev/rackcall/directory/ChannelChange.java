package dev.rackcall.directory;

import java.util.List;

/**
 * A change of a channel's endpoints.
 *
 * @param added new endpoints
 * @param changed endpoints with new content
 * @param gone endpoints that were withdrawn, or whose server's lease has ended
 * @param now all endpoints, by id
 */
public record ChannelChange(List<Endpoint> added, List<Endpoint> changed, List<Endpoint> gone, List<Endpoint> now) {}
