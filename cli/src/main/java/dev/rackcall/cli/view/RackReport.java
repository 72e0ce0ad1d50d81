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
 * @param hostsLeftOut other hosts whose agents are not asked because there are too many
 */
record RackReport(
        Optional<String> problem, List<RackServer> servers, int leftOut, List<RackAgent> agents, int hostsLeftOut) {
    /** What a directory names, before anything is left out. */
    static RackReport of(List<RackServer> servers, List<RackAgent> agents) {
        return new RackReport(Optional.empty(), servers, 0, agents, 0);
    }

    RackReport leavingOutHosts(int count) {
        return new RackReport(problem, servers, leftOut, agents, count);
    }

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
