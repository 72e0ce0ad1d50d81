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
            long memoryBytes) {}

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
         * A lower bound of the mean time of requests that are in flight for a second in which the client sends none: by
         * Little's law, their number divided by a rate below one a second. Empty if there is a mean, or nothing in flight.
         */
        OptionalDouble leastMeanSeconds() {
            boolean stays = meanMicros.isEmpty() && requestsPerSecond <= 0 && inFlight > 0;
            return stays ? OptionalDouble.of(inFlight) : OptionalDouble.empty();
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
