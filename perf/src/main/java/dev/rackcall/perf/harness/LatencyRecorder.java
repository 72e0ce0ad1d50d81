package dev.rackcall.perf.harness;

import dev.rackcall.perf.result.Measurement;
import org.HdrHistogram.Histogram;

/**
 * The latencies of one loop. The loop stores each one into a small buffer (one store per call, no allocation) and
 * empties it into a histogram between batches, outside the measured time.
 */
public final class LatencyRecorder {
    /** 4 KiB of samples: small beside the first-level cache. */
    static final int BATCH = 512;

    private static final long LONGEST_NANOS = 60_000_000_000L;

    private final Histogram histogram = new Histogram(LONGEST_NANOS, 3);
    private final long[] batch = new long[BATCH];
    private long calls;
    private long elapsed;

    /** Where the loop stores latencies in nanoseconds, from index 0. */
    long[] batch() {
        return batch;
    }

    /** Records the first {@code count} latencies of the batch, of calls that took {@code elapsedNanos} together. */
    void drain(int count, long elapsedNanos) {
        for (int i = 0; i < count; i++) {
            record(batch[i]);
        }
        add(count, elapsedNanos);
    }

    /** Records one latency at once; for loops whose calls take much longer than this. */
    public void record(long nanos) {
        histogram.recordValue(Math.min(Math.max(nanos, 0L), LONGEST_NANOS));
    }

    /** Counts calls, recorded or not, that took {@code elapsedNanos} together. */
    public void add(long moreCalls, long elapsedNanos) {
        calls += moreCalls;
        elapsed += elapsedNanos;
    }

    /** Adds everything that another recorder has. */
    public void add(LatencyRecorder other) {
        histogram.add(other.histogram);
        add(other.calls, other.elapsed);
    }

    /** The figures of everything recorded. */
    public Measurement measurement() {
        return measurement(elapsed <= 0 ? 0 : calls * 1e9 / elapsed);
    }

    /** The same, of threads that together did {@code opsPerS}. */
    public Measurement measurement(double opsPerS) {
        boolean empty = histogram.getTotalCount() == 0;
        return new Measurement(
                percentile(50),
                percentile(99),
                percentile(99.9),
                empty ? 0 : histogram.getMinValue(),
                histogram.getMaxValue(),
                calls,
                opsPerS);
    }

    private long percentile(double percentile) {
        return histogram.getTotalCount() == 0 ? 0 : histogram.getValueAtPercentile(percentile);
    }
}
