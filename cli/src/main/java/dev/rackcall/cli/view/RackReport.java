package dev.rackcall.cli.view;

import java.util.List;
import java.util.Optional;

/**
 * What a directory says of a rack. It names servers; numbers of calls are in the memory of their hosts only.
 *
 * @param problem why it cannot be asked; the servers are those of the last answer then
 * @param leftOut servers that are not listed because there are too many
 */
record RackReport(Optional<String> problem, List<RackServer> servers, int leftOut) {
    /**
     * A server.
     *
     * @param isHere whether it runs on this host
     * @param carriers how clients on other hosts reach it: POOL, RDMA, TCP
     * @param load as the server last reported it: calls in flight
     */
    record RackServer(String host, boolean isHere, String channel, String id, List<String> carriers, int load) {}
}
