package dev.rackcall.cli.top;

import java.util.List;
import java.util.Optional;

/**
 * What {@code top} and {@code view} show of one interval; also its form as JSON. Other processes choose the names, which
 * hold no control characters but may hold any other.
 *
 * @param notReadable processes that this user may not look at
 */
public record TopReport(List<ProcessRow> processes, List<ConnectionRow> connections, int notReadable) {
    /**
     * A process at an end of a connection.
     *
     * @param serves connections of which it is the server
     * @param calls connections of which it is the client
     * @param memoryBytes bytes of all memory of Rackcall's that it holds, also of what it shares with others
     */
    public record ProcessRow(
            int pid,
            String name,
            int serves,
            int calls,
            double servedPerSecond,
            double sentPerSecond,
            long memoryBytes) {}

    /**
     * A connection.
     *
     * @param id names its memory, as long as a process holds that
     * @param serverPid empty if the server runs elsewhere or is not known
     * @param clientPid likewise
     * @param holders the processes that hold its memory
     * @param transport PROCESS or HOST by this host's memory, REMOTE over RDMA or TCP, UNKNOWN if its memory does not
     *     tell
     * @param requests since the connection began
     * @param meanMicros mean time from a request to its answer
     * @param p50Micros median time of the calls that return a value, until their answers were taken
     * @param p99Micros likewise what 99 of 100 of them did not exceed
     * @param sleepingCallers callers that sleep until their answers come
     * @param invalid why its memory makes no sense; the numbers are 0 then
     */
    public record ConnectionRow(
            String id,
            String channel,
            Optional<Integer> serverPid,
            Optional<Integer> clientPid,
            List<Integer> holders,
            String transport,
            String state,
            double requestsPerSecond,
            long requests,
            Optional<Double> meanMicros,
            Optional<Double> p50Micros,
            Optional<Double> p99Micros,
            double inFlight,
            int slots,
            int sleepingCallers,
            boolean serverPolls,
            long memoryBytes,
            Optional<String> invalid) {}
}
