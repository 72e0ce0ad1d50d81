package dev.rackcall.perf.harness;

import java.util.function.LongSupplier;

/**
 * One call after the other, each as soon as the last one returned.
 *
 * <p>A call of a few hundred nanoseconds is not far above the cost of reading the clock, so the clock is read once per
 * call: the end of one is the start of the next. Every latency therefore contains one clock reading and one store; the
 * report states what that costs. This applies to all subjects.
 */
final class ClosedLoop {
    private final LongSupplier clock;

    ClosedLoop(LongSupplier clock) {
        this.clock = clock;
    }

    /**
     * Calls for {@code durationNanos}.
     *
     * @param firstSequence the first call's sequence; the following count up
     */
    LatencyRecorder run(ClientSide client, long firstSequence, long durationNanos) throws Exception {
        LatencyRecorder recorder = new LatencyRecorder();
        long[] batch = recorder.batch();
        long deadline = clock.getAsLong() + durationNanos;
        long sequence = firstSequence;
        boolean over = false;
        while (!over) {
            long start = clock.getAsLong();
            long last = start;
            int count = 0;
            while (count < batch.length && !over) {
                client.call(sequence++);
                long now = clock.getAsLong();
                batch[count++] = now - last;
                last = now;
                over = now - deadline >= 0;
            }
            recorder.drain(count, last - start);
        }
        return recorder;
    }
}
