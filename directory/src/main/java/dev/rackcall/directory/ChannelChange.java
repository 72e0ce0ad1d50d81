package dev.rackcall.directory;

import java.util.List;

/**
 * What became different about a channel.
 *
 * @param added endpoints that were not there before
 * @param changed endpoints that were there and say something else now
 * @param gone endpoints that are no longer there: withdrawn, or their server's lease has ended
 * @param now all endpoints, by id
 */
public record ChannelChange(List<Endpoint> added, List<Endpoint> changed, List<Endpoint> gone, List<Endpoint> now) {}
