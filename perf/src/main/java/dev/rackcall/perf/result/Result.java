package dev.rackcall.perf.result;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.DoubleStream;

/**
 * The figures of one subject in one target.
 *
 * @param name the subject's name
 * @param target the target that measured it
 * @param figures all figures by their JSON name, in the order of the JSON; a {@code double} has two decimal places
 */
public record Result(
        String name,
        @JsonIgnore BenchTarget target,
        @JsonIgnore Map<String, Object> figures) {
    /** The figures of which reports are compared; {@code KEY_low} and {@code KEY_high} are their ranges over the repeats. */
    static final List<String> COMPARED =
            List.of("raw_ratio", "pingpong_ratio", "inproc_ratio", "floor_ratio", "ops_per_s", "cpu_percent");

    /** The figures in an unmodifiable copy. */
    public Result {
        figures = Collections.unmodifiableMap(new LinkedHashMap<>(figures));
    }

    /** The result of one run. */
    public static Result of(String name, BenchTarget target, int inFlight, int bytes, Measurement measurement) {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("p50_ns", measurement.p50Ns());
        figures.put("p99_ns", measurement.p99Ns());
        figures.put("p999_ns", measurement.p999Ns());
        figures.put("ops_per_s", round(measurement.opsPerS()));
        figures.put("in_flight", inFlight);
        figures.put("bytes", bytes);
        figures.put("target", target.word());
        figures.put("count", measurement.count());
        figures.put("repeats", 1);
        figures.put("min_ns", measurement.minNs());
        figures.put("max_ns", measurement.maxNs());
        return new Result(name, target, figures);
    }

    /** A copy with one more figure; a {@code double} is rounded to two places. */
    public Result with(String key, Object value) {
        Map<String, Object> extended = new LinkedHashMap<>(figures);
        extended.put(key, value instanceof Double number ? (Object) round(number) : value);
        return new Result(name, target, extended);
    }

    /** A figure as a number; empty if this result does not have it. */
    public OptionalDouble figure(String key) {
        return figures.get(key) instanceof Number number
                ? OptionalDouble.of(number.doubleValue())
                : OptionalDouble.empty();
    }

    /** The median latency in nanoseconds. */
    public long p50Ns() {
        return (long) figure("p50_ns").orElseThrow();
    }

    /** Operations a second. */
    public double opsPerS() {
        return figure("ops_per_s").orElseThrow();
    }

    /** The name and the main figures, for a line of progress. */
    public String brief() {
        String depth = figure("in_flight").orElse(1) > 1
                ? " (%.0f in flight)".formatted(figure("in_flight").orElseThrow())
                : "";
        return "%s%s: p50 %,d ns, p99 %,.0f ns, %,.0f/s"
                .formatted(name, depth, p50Ns(), figure("p99_ns").orElseThrow(), opsPerS());
    }

    @JsonAnyGetter
    Map<String, Object> json() {
        return figures;
    }

    /**
     * The median of each figure over runs of the same subject, and the range of the runs' medians. A figure whose name
     * begins with {@code worst_} is that of the worst run. Figures that are not measured are those of the first run.
     */
    public static Result medianOf(List<Result> runs) {
        Result first = runs.getFirst();
        if (runs.size() == 1) {
            return first;
        }
        Map<String, Object> medians = new LinkedHashMap<>();
        first.figures.forEach((key, value) -> medians.put(key, median(runs, key, value)));
        medians.put("p50_low_ns", (long) numbers(runs, "p50_ns").min().orElseThrow());
        medians.put("p50_high_ns", (long) numbers(runs, "p50_ns").max().orElseThrow());
        COMPARED.stream().filter(first.figures::containsKey).forEach(key -> {
            medians.put(key + "_low", numbers(runs, key).min().orElseThrow());
            medians.put(key + "_high", numbers(runs, key).max().orElseThrow());
        });
        return new Result(first.name, first.target, medians);
    }

    private static Object median(List<Result> runs, String key, Object first) {
        return switch (key) {
            case "worst_ops_per_s", "worst_slowest_to_fastest" ->
                numbers(runs, key).min().orElseThrow();
            case "worst_p50_ns", "worst_p99_ns" ->
                (long) numbers(runs, key).max().orElseThrow();
            case "worst_cpu_s_per_million", "worst_platform_ratio" ->
                numbers(runs, key).max().orElseThrow();
            case "min_ns" -> (long) numbers(runs, key).min().orElseThrow();
            case "max_ns" -> (long) numbers(runs, key).max().orElseThrow();
            case "count" -> (long) numbers(runs, key).sum();
            case "repeats" -> runs.size();
            default ->
                switch (first) {
                    case Long number ->
                        Math.round(Figures.median(numbers(runs, key).toArray()));
                    case Double number ->
                        round(Figures.median(numbers(runs, key).toArray()));
                    case Boolean flag ->
                        runs.stream().allMatch(run -> flag.equals(run.figures.get(key))) ? flag : !flag;
                    default -> first;
                };
        };
    }

    private static DoubleStream numbers(List<Result> runs, String key) {
        double first = runs.getFirst().figure(key).orElseThrow();
        return runs.stream().mapToDouble(run -> run.figure(key).orElse(first));
    }

    private static double round(double value) {
        return Math.round(value * 100) / 100.0;
    }
}
