package dev.rackcall.perf;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * One line of the outcome.
 *
 * @param name subject
 * @param p50Ns median latency in nanoseconds
 * @param p99Ns 99th percentile
 * @param p999Ns 99.9th percentile
 * @param opsPerS operations a second
 * @param inFlight calls in flight
 * @param bytes payload of a request
 * @param target the target's word
 * @param count operations in all repeats together
 * @param repeats of how many runs, each in fresh JVMs, these are the medians
 * @param more further figures by name, part of the same JSON object
 */
record Result(
        String name,
        long p50Ns,
        long p99Ns,
        long p999Ns,
        double opsPerS,
        int inFlight,
        int bytes,
        String target,
        long count,
        int repeats,
        @JsonIgnore Map<String, Object> more) {
    Result {
        more = Collections.unmodifiableMap(new LinkedHashMap<>(more));
    }

    static Result of(String name, Target target, int inFlight, int bytes, Measurement measurement) {
        Map<String, Object> extremes = new LinkedHashMap<>();
        extremes.put("min_ns", measurement.minNs());
        extremes.put("max_ns", measurement.maxNs());
        return new Result(
                name,
                measurement.p50Ns(),
                measurement.p99Ns(),
                measurement.p999Ns(),
                round(measurement.opsPerS()),
                inFlight,
                bytes,
                target.word(),
                measurement.count(),
                1,
                extremes);
    }

    /** A copy with one more figure; a {@code double} is rounded to two places. */
    Result with(String key, Object value) {
        Map<String, Object> extended = new LinkedHashMap<>(more);
        extended.put(key, value instanceof Double number ? (Object) round(number) : value);
        return new Result(name, p50Ns, p99Ns, p999Ns, opsPerS, inFlight, bytes, target, count, repeats, extended);
    }

    @JsonAnyGetter
    Map<String, Object> furtherFigures() {
        return more;
    }

    /**
     * The median of each figure over runs of the same thing, and the range of the runs' medians. Figures that are not numbers are taken
     * from the first run.
     */
    static Result medianOf(List<Result> runs) {
        Result first = runs.getFirst();
        if (runs.size() == 1) {
            return first;
        }
        Map<String, Object> figures = new LinkedHashMap<>();
        first.more.forEach((key, value) -> figures.put(key, medianFigure(runs, key, value)));
        figures.put("p50_low_ns", runs.stream().mapToLong(Result::p50Ns).min().orElse(0));
        figures.put("p50_high_ns", runs.stream().mapToLong(Result::p50Ns).max().orElse(0));
        return new Result(
                first.name,
                median(runs, Result::p50Ns),
                median(runs, Result::p99Ns),
                median(runs, Result::p999Ns),
                round(medianDouble(runs, Result::opsPerS)),
                first.inFlight,
                first.bytes,
                first.target,
                runs.stream().mapToLong(Result::count).sum(),
                runs.size(),
                figures);
    }

    private static Object medianFigure(List<Result> runs, String key, Object firstValue) {
        if (key.equals("min_ns")) {
            return runs.stream()
                    .mapToLong(run -> ((Number) run.more.get(key)).longValue())
                    .min()
                    .orElse(0);
        }
        if (key.equals("max_ns")) {
            return runs.stream()
                    .mapToLong(run -> ((Number) run.more.get(key)).longValue())
                    .max()
                    .orElse(0);
        }
        return switch (firstValue) {
            case Long number -> median(runs, run -> ((Number) run.more.getOrDefault(key, number)).longValue());
            case Double number ->
                round(medianDouble(runs, run -> ((Number) run.more.getOrDefault(key, number)).doubleValue()));
            case Boolean flag -> runs.stream().allMatch(run -> flag.equals(run.more.get(key))) ? flag : !flag;
            default -> firstValue;
        };
    }

    private static long median(List<Result> runs, ToLongFunction<Result> figure) {
        return Math.round(medianDouble(runs, run -> (double) figure.applyAsLong(run)));
    }

    private static double medianDouble(List<Result> runs, ToDoubleFunction<Result> figure) {
        return Medians.of(runs.stream().mapToDouble(figure).toArray());
    }

    private static double round(double value) {
        return Math.round(value * 100) / 100.0;
    }
}
