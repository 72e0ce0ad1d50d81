package dev.rackcall.perf.harness;

/** The calling side of a subject. Confined to the thread that connected it. */
public interface ClientSide extends AutoCloseable {
    /** The longest that a single call may take before it counts as lost, in nanoseconds. */
    long CALL_BOUND_NANOS = 10_000_000_000L;

    /**
     * Does one round trip and checks the reply, so that a benchmark cannot measure nothing.
     *
     * @param sequence differs from call to call; the reply must show it
     * @throws WrongReplyException if the reply is not the one to this call
     * @throws NoReplyException if there is none in {@link #CALL_BOUND_NANOS}
     */
    void call(long sequence) throws Exception;

    /**
     * Sleeps before each of {@code calls} calls, and records how long each takes.
     *
     * @param gapNanos from the start of one call to the next
     */
    default LatencyRecorder rarely(long firstSequence, long gapNanos, int calls) throws Exception {
        return RareLoop.run(this, firstSequence, gapNanos, calls);
    }

    /** Calls with several in flight; only for subjects with {@link Subject.Trait#PIPELINES}. */
    default Pipeline pipeline(int depth) {
        throw new UnsupportedOperationException(getClass().getSimpleName() + " has one call in flight at a time");
    }

    @Override
    void close();

    /** One call, as {@link #call} describes it. */
    @FunctionalInterface
    interface RoundTrip {
        /** Does the round trip and checks its reply. */
        void call(long sequence) throws Exception;
    }

    /** A side made of its call and of what closes it. */
    static ClientSide of(RoundTrip call, Runnable close) {
        return new ClientSide() {
            @Override
            public void call(long sequence) throws Exception {
                call.call(sequence);
            }

            @Override
            public void close() {
                close.run();
            }
        };
    }
}
