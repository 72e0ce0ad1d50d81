package dev.rackcall.perf;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * ALock beside the other locks of the same run: {@code x_KIND} is how many times as many operations it did, {@code alone_x_KIND} how many times that would be if no thread
 * was in another's way, by what one thread alone needs for a lock of its own node and one of another node.
 */
final class LockComparison {
    private static final String ALOCK = "alock";
    /** What is compared: the longer name first. */
    private static final List<String> OURS = List.of(LockTarget.WAITING, ALOCK);

    private final List<Result> results;
    private final Map<String, Result> byName;

    LockComparison(List<Result> results) {
        this.results = results;
        byName = results.stream().collect(Collectors.toMap(Result::name, result -> result));
    }

    /** The same results; those of ALock with what can be said by the others. */
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
    static List<String> best(List<Result> compared) {
        List<String> sentences = new ArrayList<>();
        compared.stream()
                .map(LockComparison::locality)
                .flatMap(Optional::stream)
                .distinct()
                .forEach(percent -> {
                    List<String> best = Stream.of("spin", "mcs")
                            .map(other -> best(compared, percent, other))
                            .flatMap(Optional::stream)
                            .toList();
                    if (!best.isEmpty()) {
                        sentences.add("at " + percent + " % up to " + String.join(", up to ", best));
                    }
                });
        return sentences;
    }

    private static Optional<String> best(List<Result> compared, int percent, String other) {
        return compared.stream()
                .filter(result -> locality(result).equals(Optional.of(percent))
                        && result.more().containsKey("x_" + other))
                .max(Comparator.comparingDouble(result -> times(result, other)))
                .map(result ->
                        String.format(Locale.ROOT, "%.1f times %s (%s)", times(result, other), other, result.name()));
    }

    private static double times(Result result, String other) {
        return ((Number) result.more().get("x_" + other)).doubleValue();
    }

    private static Optional<Integer> locality(Result result) {
        return Optional.ofNullable(result.more().get(LockContest.LOCALITY)).map(Integer.class::cast);
    }

    private Result compared(String ours, Result result) {
        Result compared = result;
        String shape = result.name().substring(ours.length());
        for (String other : List.of("spin", "mcs", "reentrantlock")) {
            Result beside = byName.get(other + shape);
            if (beside != null) {
                compared = compared.with("x_" + other, result.opsPerS() / beside.opsPerS());
            }
            if (result.more().get(LockContest.LOCALITY) instanceof Integer percent) {
                double own = mean(percent, ALOCK + LockTarget.ALONE, ours + LockTarget.FAR);
                double others = mean(percent, other + LockTarget.LOOPBACK, other + LockTarget.FAR);
                compared = own > 0 && others > 0 ? compared.with("alone_x_" + other, others / own) : compared;
            }
        }
        return compared;
    }

    /** Nanoseconds an operation by medians; 0 if they were not measured. */
    private double mean(int percent, String near, String far) {
        return byName.containsKey(near) && byName.containsKey(far)
                ? (percent * median(byName.get(near)) + (100 - percent) * median(byName.get(far))) / 100
                : 0;
    }

    private static double median(Result result) {
        return result.more().get("ns_per_op") instanceof Number batch ? batch.doubleValue() : result.p50Ns();
    }
}
