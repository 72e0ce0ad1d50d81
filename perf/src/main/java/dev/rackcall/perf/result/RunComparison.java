package dev.rackcall.perf.result;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A run beside an earlier one. A figure has changed if its range over the repeats and the earlier range are further apart
 * than {@link #MARGIN}, or {@link #WIDE_MARGIN} if one of them has fewer than three repeats. A subject that took turns
 * with a floor is compared by its ratio to it, because a virtual machine changes its speed from run to run; peers and the
 * floors themselves are compared by their medians.
 *
 * @param earlier when the earlier run was
 * @param differences what else differs: machine, kernel, JVM, length of the measurements
 * @param compared how many figures both runs have
 * @param worse figures of Rackcall that got worse
 * @param better figures of Rackcall that got better
 * @param peers figures that changed of peers and floors, which make no Rackcall call. If there are many, the machine has changed
 */
public record RunComparison(
        String earlier,
        List<String> differences,
        int compared,
        List<Change> worse,
        List<Change> better,
        List<Change> peers) {
    private static final double MARGIN = 0.1;
    private static final double WIDE_MARGIN = 0.25;
    private static final double MOST_LOAD = 0.5;
    private static final int ENOUGH_REPEATS = 3;
    /** The first of these that a result has is compared. */
    private static final List<String> RATIOS = List.of("raw_ratio", "pingpong_ratio", "inproc_ratio", "floor_ratio");
    /** Ratios have two decimals, so that a small one changes by steps. */
    private static final double LEAST_RATIO_CHANGE = 0.05;
    /** Compared where results have them, with the difference that never counts. */
    private static final Map<String, Double> FURTHER =
            Map.of("cpu_percent", 1.0, "alloc_client_b", 8.0, "alloc_server_b", 8.0);

    private static final Pattern PEERS = Pattern.compile(
            "raw-|two-copies|aeron|grpc-(uds|tcp|inproc)|crowd-(uds|grpc-uds|aeron)|rare-(c-)?uds|reentrantlock|memcpy|spin-|mcs-|elastic-fresh");

    private record Key(BenchTarget target, String name, int inFlight) {
        static Key of(Result result) {
            return new Key(result.target(), result.name(), (int)
                    result.figure("in_flight").orElse(1));
        }
    }

    /** A measured number with its range. */
    private record Range(double value, double low, double high, boolean isCertain) {
        static Range of(Result result, String figure) {
            double value = result.figure(figure).orElseThrow();
            boolean isMedian = figure.equals("p50_ns");
            return new Range(
                    value,
                    result.figure(isMedian ? "p50_low_ns" : figure + "_low").orElse(value),
                    result.figure(isMedian ? "p50_high_ns" : figure + "_high").orElse(value),
                    result.figure("repeats").orElse(1) >= ENOUGH_REPEATS);
        }

        static Range of(Micro micro) {
            double deviation = 2 * micro.errorNs();
            return new Range(micro.nsPerOp(), micro.nsPerOp() - deviation, micro.nsPerOp() + deviation, true);
        }

        boolean differsFrom(Range before, double least) {
            double margin = Math.max(least, (isCertain && before.isCertain ? MARGIN : WIDE_MARGIN) * before.value);
            return low - before.high > margin || before.low - high > margin;
        }
    }

    /** Compares a run with an earlier one. */
    public static RunComparison of(BenchOutcome earlier, BenchOutcome now) {
        List<Change> changes = new ArrayList<>();
        int compared = 0;
        Map<Key, Result> before = byKey(earlier.results(), Key::of);
        for (Result result : now.results()) {
            Result other = before.get(Key.of(result));
            if (other != null) {
                for (String figure : figures(result, other)) {
                    compared++;
                    compare(Key.of(result), figure, Range.of(other, figure), Range.of(result, figure), changes);
                }
            }
        }
        Map<String, Micro> microBefore = byKey(earlier.micro(), Micro::name);
        for (Micro micro : now.micro()) {
            Micro other = microBefore.get(micro.name());
            if (other != null) {
                compared++;
                compare(new Key(micro.target(), micro.name(), 1), "ns", Range.of(other), Range.of(micro), changes);
            }
        }
        return new RunComparison(
                earlier.machine().date(),
                differences(earlier.machine(), now.machine()),
                compared,
                changes.stream()
                        .filter(each -> !isPeer(each) && !each.isBetter())
                        .toList(),
                changes.stream()
                        .filter(each -> !isPeer(each) && each.isBetter())
                        .toList(),
                changes.stream().filter(RunComparison::isPeer).toList());
    }

    /** What was compared, and its caveats. */
    public List<String> sentences() {
        List<String> sentences = new ArrayList<>();
        sentences.add("Compared %d figures with the run of %s: %d got worse and %d better by more than noise."
                .formatted(compared, earlier, worse.size(), better.size()));
        differences.forEach(each -> sentences.add("Conditions differ: " + each + "."));
        if (!peers.isEmpty()) {
            sentences.add("%d figures of peers and floors also changed.".formatted(peers.size()));
        }
        return sentences;
    }

    private static <K, V> Map<K, V> byKey(List<V> values, Function<V, K> key) {
        Map<K, V> byKey = new LinkedHashMap<>();
        values.forEach(each -> byKey.put(key.apply(each), each));
        return byKey;
    }

    private static List<String> figures(Result result, Result other) {
        // The results of these targets are what all threads or processes do together.
        boolean isRate = result.target() == BenchTarget.THROUGHPUT
                || result.target() == BenchTarget.CROWD
                || result.figure("threads_per_node").isPresent();
        String main = isRate
                ? "ops_per_s"
                : ratio(result, other)
                        .filter(_ -> !PEERS.matcher(result.name()).lookingAt())
                        .orElse("p50_ns");
        return Stream.concat(Stream.of(main), FURTHER.keySet().stream().sorted())
                .filter(figure -> result.figure(figure).isPresent()
                        && other.figure(figure).isPresent())
                .toList();
    }

    /** The ratio to the floor of both; empty if there is none, or the result is the floor itself. */
    private static Optional<String> ratio(Result result, Result other) {
        return RATIOS.stream()
                .filter(figure -> result.figure(figure).isPresent()
                        && other.figure(figure).isPresent())
                .findFirst()
                .filter(figure -> result.figure(figure).getAsDouble() != 1
                        || other.figure(figure).getAsDouble() != 1);
    }

    private static void compare(Key key, String figure, Range before, Range now, List<Change> changes) {
        double least = figure.endsWith("_ratio") ? LEAST_RATIO_CHANGE : FURTHER.getOrDefault(figure, 0.0);
        if (now.differsFrom(before, least)) {
            boolean isBetter = figure.equals("ops_per_s") == now.value > before.value;
            changes.add(new Change(key.target, key.name, key.inFlight, figure, before.value, now.value, isBetter));
        }
    }

    private static boolean isPeer(Change change) {
        return change.target().isMicro()
                ? change.target() == BenchTarget.OBJECTS && !change.name().endsWith("-rackcall")
                : PEERS.matcher(change.name()).lookingAt();
    }

    private static List<String> differences(Machine before, Machine now) {
        return Stream.of(
                        difference("processor", before.cpu(), now.cpu()),
                        difference("processors", before.cores(), now.cores()),
                        difference("memory", before.memoryBytes(), now.memoryBytes()),
                        difference("system", before.kernel(), now.kernel()),
                        difference("JVM", before.jvm(), now.jvm()),
                        difference("flags", before.flags(), now.flags()),
                        difference("length of a measurement", length(before), length(now)),
                        difference("--quick", isQuick(before), isQuick(now)),
                        before.load1m() > MOST_LOAD || now.load1m() > MOST_LOAD
                                ? "load at the start: " + before.load1m() + " -> " + now.load1m()
                                : "")
                .filter(each -> !each.isEmpty())
                .toList();
    }

    private static String length(Machine machine) {
        return machine.durationS() > 0 ? Figures.time(machine.durationS() * 1e9) : "of several lengths";
    }

    private static String isQuick(Machine machine) {
        return List.of(machine.command().split(" ")).contains("--quick") ? "yes" : "no";
    }

    private static String difference(String what, Object before, Object now) {
        return Objects.equals(before, now) ? "" : what + ": " + before + " -> " + now;
    }
}
