package dev.rackcall.perf;

/**
 * What the coordinator tells a child to do; one line of JSON. Which fields count depends on the action.
 *
 * @param action what to do
 * @param nanos how long
 * @param rate calls a second, for {@link Action#FIXED_RATE}
 * @param inFlight calls in flight, for {@link Action#THROUGHPUT}
 * @param count how many, for {@link Action#ALLOCATION} and the connections of {@link Action#OPEN}
 */
record Order(Action action, long nanos, double rate, int inFlight, int count) {
    enum Action {
        /** Client: call until the medians settle; answers with {@link WarmUp.Outcome}. */
        WARM_UP,
        /** Client: a slice of a {@link ClosedLoop}; answers with its {@link Measurement} and keeps it for {@link #RESULT}. */
        CLOSED,
        /** Client: answers with the {@link Measurement} of all slices since the last time. */
        RESULT,
        /** Client: {@link FixedRateLoop}; answers with {@link Measurement}. */
        FIXED_RATE,
        /** Client: {@link ThroughputLoop} until the medians settle; answers with {@link WarmUp.Outcome}. */
        WARM_UP_PIPELINE,
        /** Client: {@link ThroughputLoop}; answers with {@link Measurement}. */
        THROUGHPUT,
        /** Client: {@link #count} calls; answers with {@link Allocation} of the calling thread. */
        ALLOCATION,
        /** Either: answers with {@link Allocation} of all other threads since the JVM started. */
        ALLOCATED,
        /** Either: answers with {@link Footprint}. */
        FOOTPRINT,
        /** Client: opens {@link #count} further connections, calls once on each and keeps them; answers with {@link Measurement}. */
        OPEN,
        /** Client: closes the further connections; answers with {@link Measurement}. */
        CLOSE,
        /** Server: {@link ServerSide#pause}; answers with {@code true}. */
        PAUSE,
        /** Server: {@link ServerSide#resume}; answers with {@code true}. */
        RESUME,
        /** Either: close and exit; no answer. */
        QUIT
    }

    static Order of(Action action) {
        return new Order(action, 0, 0, 0, 0);
    }

    static Order timed(Action action, long nanos) {
        return new Order(action, nanos, 0, 0, 0);
    }

    static Order counted(Action action, int count) {
        return new Order(action, 0, 0, 0, count);
    }

    static Order atRate(long nanos, double rate) {
        return new Order(Action.FIXED_RATE, nanos, rate, 0, 0);
    }

    static Order inFlight(Action action, long nanos, int inFlight) {
        return new Order(action, nanos, 0, inFlight, 0);
    }
}
