package dev.rackcall.perf.result;

import java.io.Serializable;
import java.util.List;
import java.util.function.ToLongFunction;

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
    /** All calls of several processes together, with the latencies of the process that waited longest. */
    public static Measurement together(List<Measurement> parts, double opsPerS) {
        return new Measurement(
                longest(parts, Measurement::p50Ns),
                longest(parts, Measurement::p99Ns),
                longest(parts, Measurement::p999Ns),
                parts.stream().mapToLong(Measurement::minNs).min().orElseThrow(),
                longest(parts, Measurement::maxNs),
                parts.stream().mapToLong(Measurement::count).sum(),
                opsPerS);
    }

    private static long longest(List<Measurement> parts, ToLongFunction<Measurement> latency) {
        return parts.stream().mapToLong(latency).max().orElseThrow();
    }

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
