package dev.rackcall.perf.harness;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Calls at a fixed rate. Each call has a time at which it is due, and its latency counts from then: if one call is
 * delayed, the latencies of the calls that were due meanwhile include their wait (no coordinated omission).
 */
final class FixedRateLoop {
    /** Shorter waits spin, because a sleeping thread may wake late. */
    private static final long SLEEP_ABOVE_NANOS = 2_000_000;

    private final LongSupplier clock;

    FixedRateLoop(LongSupplier clock) {
        this.clock = clock;
    }

    /**
     * Makes as many calls as are due within {@code durationNanos}, late ones included.
     *
     * @param ratePerSecond calls a second, at least 1
     */
    LatencyRecorder run(ClientSide client, long firstSequence, long durationNanos, double ratePerSecond)
            throws Exception {
        double interval = 1e9 / ratePerSecond;
        long calls = Math.max(1, (long) (durationNanos / interval));
        // Beyond this time the subject cannot keep up with the rate, which the measurement so far shows.
        long longest = 2 * durationNanos + ClientSide.CALL_BOUND_NANOS;
        LatencyRecorder recorder = new LatencyRecorder();
        long start = clock.getAsLong();
        long now = start;
        long made = 0;
        while (made < calls && now - start < longest) {
            long due = start + (long) (made * interval);
            while (now < due) {
                if (due - now > SLEEP_ABOVE_NANOS) {
                    LockSupport.parkNanos(due - now - SLEEP_ABOVE_NANOS / 2);
                } else {
                    Thread.onSpinWait();
                }
                now = clock.getAsLong();
            }
            client.call(firstSequence + made);
            now = clock.getAsLong();
            recorder.record(now - due);
            made++;
        }
        recorder.add(made, now - start);
        return recorder;
    }
}
