package dev.rackcall.perf.harness;

import dev.rackcall.perf.result.Measurement;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;

/**
 * Runs windows of a loop until their medians no longer move: the JIT is done and caches are filled. The time is
 * bounded; a subject that never settles is measured all the same, and the result says that it had not settled.
 */
public final class WarmUp {
    /** One window of the loop that will be measured. */
    @FunctionalInterface
    interface Window {
        Measurement run(long nanos) throws Exception;
    }

    /**
     * How a warm-up ended.
     *
     * @param nanos how long it took
     * @param settled whether the last windows agreed
     * @param opsPerS calls a second in the last window
     */
    public record Outcome(long nanos, boolean settled, double opsPerS) implements Serializable {}

    private static final int AGREEING = 4;
    private static final double TOLERANCE = 0.03;

    private final long windowNanos;
    private final long leastNanos;
    private final long mostNanos;

    WarmUp(long windowNanos, long leastNanos, long mostNanos) {
        this.windowNanos = windowNanos;
        this.leastNanos = leastNanos;
        this.mostNanos = mostNanos;
    }

    static WarmUp of(long mostNanos) {
        return new WarmUp(150_000_000L, Math.min(1_200_000_000L, mostNanos), mostNanos);
    }

    Outcome run(Window window) throws Exception {
        Deque<Long> medians = new ArrayDeque<>();
        long spent = 0;
        double rate = 0;
        boolean settled = false;
        while (spent < mostNanos && !(settled && spent >= leastNanos)) {
            Measurement measurement = window.run(Math.min(windowNanos, mostNanos - spent));
            spent += windowNanos;
            rate = measurement.opsPerS();
            medians.addLast(measurement.p50Ns());
            if (medians.size() > AGREEING) {
                medians.removeFirst();
            }
            settled = medians.size() == AGREEING
                    && Collections.max(medians) - Collections.min(medians)
                            <= Math.max(1, TOLERANCE * Collections.max(medians));
        }
        return new Outcome(spent, settled, rate);
    }
}
