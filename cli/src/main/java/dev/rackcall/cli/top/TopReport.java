package dev.rackcall.cli.top;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * What {@code top} and {@code view} show of one interval; also its form as JSON. Other processes choose the names, which
 * hold no control characters but may hold any other.
 *
 * @param notReadable processes that this user may not look at
 */
public record TopReport(List<ProcessRow> processes, List<ConnectionRow> connections, int notReadable) {
    /** The transport of gRPC connections within a host. */
    public static final String GRPC = "GRPC";

    /** The transport of gRPC connections over RDMA or TCP. */
    public static final String GRPC_REMOTE = "GRPC_REMOTE";

    /** Only the channels whose names contain that text, with their processes and what these do over those channels. */
    TopReport ofChannels(String part) {
        List<ConnectionRow> kept =
                connections.stream().filter(row -> row.channel().contains(part)).toList();
        return new TopReport(
                processes.stream()
                        .map(process -> process.over(kept))
                        .filter(process -> part.isEmpty() || process.serves() > 0 || process.calls() > 0)
                        .toList(),
                kept,
                notReadable);
    }

    /** The same, with its connections in that order. */
    TopReport sorted(TopOrder order) {
        return new TopReport(
                processes, connections.stream().sorted(order.comparator()).toList(), notReadable);
    }

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
            long memoryBytes) {
        /** A process, without its connections. */
        static ProcessRow of(int pid, String name, long memoryBytes) {
            return new ProcessRow(pid, name, 0, 0, 0, 0, memoryBytes);
        }

        private ProcessRow over(List<ConnectionRow> all) {
            List<ConnectionRow> served = all.stream()
                    .filter(row -> row.serverPid().equals(Optional.of(pid)))
                    .toList();
            List<ConnectionRow> called = all.stream()
                    .filter(row -> row.clientPid().equals(Optional.of(pid)))
                    .toList();
            return new ProcessRow(
                    pid, name, served.size(), called.size(), requests(served), requests(called), memoryBytes);
        }

        private static double requests(List<ConnectionRow> rows) {
            return rows.stream().mapToDouble(ConnectionRow::requestsPerSecond).sum();
        }
    }

    /**
     * A connection.
     *
     * @param id names its memory, as long as a process holds that
     * @param serverPid empty if the server runs elsewhere or is not known
     * @param clientPid likewise
     * @param holders the processes that hold its memory
     * @param transport as {@link dev.rackcall.rpc.Route.Kind}; REMOTE over RDMA or TCP if its memory does not tell which,
     *     UNKNOWN if it tells nothing; {@link #GRPC} or {@link #GRPC_REMOTE}, whose memory tells nothing of percentiles,
     *     slots, waits, polling and arenas
     * @param requests since the connection began
     * @param meanMicros mean time from a request to its answer
     * @param p50Micros median time of the calls that return a value, until their answers were taken
     * @param p99Micros 99th percentile of the same
     * @param sleepingCallers callers that sleep until their answers come
     * @param requestArena the memory in which the client makes arguments
     * @param replyArena the memory in which the server makes results
     * @param sharedArena the memory in which the channel's processes make objects that they share
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
            WaitRates waits,
            long memoryBytes,
            Optional<ArenaUse> requestArena,
            Optional<ArenaUse> replyArena,
            Optional<ArenaUse> sharedArena,
            Optional<String> invalid) {
        /** A connection whose memory makes no sense. */
        public static ConnectionRow invalid(
                String id, String channel, List<Integer> holders, long memoryBytes, String why) {
            return new ConnectionRow(
                    id,
                    channel,
                    Optional.empty(),
                    Optional.empty(),
                    holders,
                    "UNKNOWN",
                    "invalid",
                    0,
                    0,
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    0,
                    0,
                    0,
                    false,
                    WaitRates.NONE,
                    memoryBytes,
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.of(why));
        }

        /** Whether it is a connection of {@code rackcall-grpc}. */
        public boolean usesGrpc() {
            return transport.equals(GRPC) || transport.equals(GRPC_REMOTE);
        }

        /**
         * Whether the requests in flight take longer than a second: the client sent none, and the mean of their number is
         * a whole number, as it is if none of them ends.
         */
        boolean outlastsASecond() {
            return meanMicros.isEmpty() && requestsPerSecond <= 0 && inFlight >= 1 && inFlight % 1 == 0;
        }

        /** What all arenas have taken; 0 if no arena is known. */
        long arenaBytes() {
            return arenas().mapToLong(ArenaUse::takenBytes).sum();
        }

        /** The largest part that an arena has taken of its quota, in percent; empty if no arena is known. */
        OptionalDouble arenaPercent() {
            return arenas().mapToDouble(ArenaUse::percent).max();
        }

        private Stream<ArenaUse> arenas() {
            return Stream.of(requestArena, replyArena, sharedArena).flatMap(Optional::stream);
        }
    }

    /**
     * How often threads waited, in a second. Callers that only spin are not counted: counting them would slow their calls.
     *
     * @param yields callers that yielded their processor until the answer came
     * @param sleeps callers that slept until the answer came
     * @param slots callers that waited for a free slot
     * @param pauses how often the server stopped polling the connection
     */
    public record WaitRates(double yields, double sleeps, double slots, double pauses) {
        /** The rates of an unused connection. */
        public static final WaitRates NONE = new WaitRates(0, 0, 0, 0);
    }

    /**
     * How full an arena has been.
     *
     * @param takenBytes length of the part that it uses so far, with the place of its page table, which takes memory only in
     *     parts; it grows when it is full, and never shrinks
     * @param quotaBytes its maximum
     */
    public record ArenaUse(long takenBytes, long quotaBytes) {
        double percent() {
            return quotaBytes == 0 ? 0 : 100.0 * takenBytes / quotaBytes;
        }
    }
}
