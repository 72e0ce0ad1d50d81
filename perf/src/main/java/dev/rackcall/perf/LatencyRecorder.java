package dev.rackcall.perf;

import org.HdrHistogram.Histogram;

/**
 * The latencies of one loop. The loop stores each one into a small buffer (one store per call, no allocation) and empties it into a
 * histogram between batches, outside the time that is measured.
 */
final class LatencyRecorder {
    /** 4 KiB of samples: small beside the first-level cache. */
    static final int BATCH = 512;

    private static final long LONGEST_NANOS = 60_000_000_000L;

    private final Histogram histogram = new Histogram(LONGEST_NANOS, 3);
    private final long[] batch = new long[BATCH];

    /** Where the loop stores latencies in nanoseconds, from index 0. */
    long[] batch() {
        return batch;
    }

    /** Takes the first {@code count} latencies of the batch over. */
    void drain(int count) {
        for (int i = 0; i < count; i++) {
            histogram.recordValue(Math.min(Math.max(batch[i], 0L), LONGEST_NANOS));
        }
    }

    /** Takes one latency over at once; for loops whose calls are long beside this. */
    void record(long nanos) {
        histogram.recordValue(Math.min(Math.max(nanos, 0L), LONGEST_NANOS));
    }

    /** What was recorded, for calls that took {@code elapsedNanos} in all. */
    Measurement measurement(long calls, long elapsedNanos) {
        return new Measurement(
                percentile(50),
                percentile(99),
                percentile(99.9),
                histogram.getTotalCount() == 0 ? 0 : histogram.getMinValue(),
                histogram.getMaxValue(),
                calls,
                elapsedNanos <= 0 ? 0 : calls * 1e9 / elapsedNanos);
    }

    /** The latency in nanoseconds that {@code percentile} percent of the calls did not exceed. */
    long percentile(double percentile) {
        return histogram.getTotalCount() == 0 ? 0 : histogram.getValueAtPercentile(percentile);
    }
}
