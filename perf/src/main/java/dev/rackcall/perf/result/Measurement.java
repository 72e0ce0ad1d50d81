package dev.rackcall.perf.result;

import java.io.Serializable;

/**
 * What one loop measured.
 *
 * @param p50Ns median latency in nanoseconds
 * @param p99Ns 99th percentile
 * @param p999Ns 99.9th percentile
 * @param minNs shortest latency
 * @param maxNs longest latency
 * @param count calls that were made and checked
 * @param opsPerS calls a second
 */
public record Measurement(long p50Ns, long p99Ns, long p999Ns, long minNs, long maxNs, long count, double opsPerS)
        implements Serializable {
    /** The figures of one repetition, where each measured operation consists of several. */
    public Measurement dividedBy(int repetitions) {
        return new Measurement(
                p50Ns / repetitions,
                p99Ns / repetitions,
                p999Ns / repetitions,
                minNs / repetitions,
                maxNs / repetitions,
                count * repetitions,
                opsPerS * repetitions);
    }
}
