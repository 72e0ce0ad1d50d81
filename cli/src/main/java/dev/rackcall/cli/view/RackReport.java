package dev.rackcall.cli.view;

import java.net.URI;
import java.util.List;
import java.util.Optional;

/**
 * What a directory says of a rack. It names servers, and the agents that tell their hosts' numbers.
 *
 * @param problem why it cannot be asked; the servers are those of the last answer then
 * @param leftOut servers that are not listed because there are too many
 * @param agents those of other hosts
 */
record RackReport(Optional<String> problem, List<RackServer> servers, int leftOut, List<RackAgent> agents) {
    /** Another host's agent, and where it tells the numbers. */
    record RackAgent(String id, String host, URI address) {}

    /**
     * A server.
     *
     * @param isHere whether it runs on this host
     * @param carriers how clients on other hosts reach it: POOL, RDMA, TCP
     * @param load as the server last reported it: calls in flight
     */
    record RackServer(String host, boolean isHere, String channel, String id, List<String> carriers, int load) {}
}
