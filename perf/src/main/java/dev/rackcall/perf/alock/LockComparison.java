package dev.rackcall.perf.alock;

import dev.rackcall.perf.result.Result;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Compares ALock with the other locks of the same run: {@code x_KIND} is how many times as many operations it did,
 * {@code alone_x_KIND} the same ratio without contention, computed from the times that a single thread needs for a lock
 * of its own node and for one of another node.
 */
public final class LockComparison {
    private static final String ALOCK = "alock";
    /** The compared kinds: the longer name first. */
    private static final List<String> OURS = List.of(LockTarget.WAITING, ALOCK);

    private final List<Result> results;
    private final Map<String, Result> byName;

    LockComparison(List<Result> results) {
        this.results = results;
        byName = results.stream().collect(Collectors.toMap(Result::name, result -> result));
    }

    /** The same results; those of ALock with their comparisons. */
    List<Result> compared() {
        return results.stream()
                .map(result -> OURS.stream()
                        .filter(ours -> result.name().startsWith(ours + "-"))
                        .findFirst()
                        .map(ours -> compared(ours, result))
                        .orElse(result))
                .toList();
    }

    /** For each locality the greatest of those ratios, and where. */
    public static List<String> best(List<Result> compared) {
        List<String> sentences = new ArrayList<>();
        Map<Integer, List<Result>> byLocality = compared.stream()
                .filter(result -> result.figure(LockContest.LOCALITY).isPresent())
                .collect(Collectors.groupingBy(
                        result -> (int) result.figure(LockContest.LOCALITY).orElseThrow(),
                        LinkedHashMap::new,
                        Collectors.toList()));
        byLocality.forEach((percent, contests) -> {
            List<String> best = Stream.of("spin", "mcs")
                    .map(other -> best(contests, other))
                    .flatMap(Optional::stream)
                    .toList();
            if (!best.isEmpty()) {
                sentences.add("at " + percent + " % up to " + String.join(", up to ", best));
            }
        });
        return sentences;
    }

    private static Optional<String> best(List<Result> contests, String other) {
        String key = "x_" + other;
        return contests.stream()
                .filter(result -> result.figure(key).isPresent())
                .max(Comparator.comparingDouble(result -> result.figure(key).orElseThrow()))
                .map(result -> String.format(
                        Locale.ROOT, "%.1f times %s (%s)", result.figure(key).orElseThrow(), other, result.name()));
    }

    private Result compared(String ours, Result result) {
        Result compared = result;
        String shape = result.name().substring(ours.length());
        for (String other : List.of("spin", "mcs", "reentrantlock")) {
            Result beside = byName.get(other + shape);
            if (beside != null) {
                compared = compared.with("x_" + other, result.opsPerS() / beside.opsPerS());
            }
            if (result.figure(LockContest.LOCALITY).isPresent()) {
                double percent = result.figure(LockContest.LOCALITY).getAsDouble();
                double own = mean(percent, ALOCK + LockTarget.ALONE, ours + LockTarget.FAR);
                double others = mean(percent, other + LockTarget.LOOPBACK, other + LockTarget.FAR);
                compared = own > 0 && others > 0 ? compared.with("alone_x_" + other, others / own) : compared;
            }
        }
        return compared;
    }

    /** Nanoseconds an operation by medians; 0 if they were not measured. */
    private double mean(double percent, String near, String far) {
        return byName.containsKey(near) && byName.containsKey(far)
                ? (percent * median(byName.get(near)) + (100 - percent) * median(byName.get(far))) / 100
                : 0;
    }

    private static double median(Result result) {
        return result.figure("ns_per_op").orElse((double) result.p50Ns());
    }
}
