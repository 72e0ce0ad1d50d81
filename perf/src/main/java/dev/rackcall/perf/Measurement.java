package dev.rackcall.perf;

/**
 * What one loop found.
 *
 * @param p50Ns median latency in nanoseconds
 * @param p99Ns 99th percentile
 * @param p999Ns 99.9th percentile
 * @param minNs shortest
 * @param maxNs longest
 * @param count calls that were made and validated
 * @param opsPerS calls a second
 */
record Measurement(long p50Ns, long p99Ns, long p999Ns, long minNs, long maxNs, long count, double opsPerS) {
    /** The same for one of several repetitions in each operation. */
    Measurement dividedBy(int repetitions) {
        return repetitions == 1
                ? this
                : new Measurement(
                        p50Ns / repetitions,
                        p99Ns / repetitions,
                        p999Ns / repetitions,
                        minNs / repetitions,
                        maxNs / repetitions,
                        count * repetitions,
                        opsPerS * repetitions);
    }
}
