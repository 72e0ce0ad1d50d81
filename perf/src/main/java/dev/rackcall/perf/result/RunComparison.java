package dev.rackcall.perf.result;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A run beside an earlier one. A figure has changed if its range over the repeats and the earlier range are further apart
 * than {@link #MARGIN}, or {@link #WIDE_MARGIN} if one of them has fewer than three repeats. A subject that took turns
 * with a floor is compared by its ratio to it, because a virtual machine changes its speed from run to run.
 *
 * @param earlier when the earlier run was
 * @param differences what else differs: machine, kernel, JVM
 * @param compared how many figures both runs have
 * @param worse figures of Rackcall that got worse
 * @param better figures of Rackcall that got better
 * @param peers figures of peers and floors that changed. If there are many, the machine has changed
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
    private static final List<String> MAIN =
            List.of("raw_ratio", "pingpong_ratio", "inproc_ratio", "floor_ratio", "p50_ns");
    /** Compared where results have them, with the difference that never counts. */
    private static final Map<String, Double> FURTHER =
            Map.of("cpu_percent", 1.0, "alloc_client_b", 8.0, "alloc_server_b", 8.0);

    private static final Pattern PEERS = Pattern.compile(
            "raw-|two-copies|aeron|grpc-(uds|tcp|inproc)|crowd-(uds|grpc-uds|aeron)|rare-(c-)?uds|reentrantlock|memcpy|spin-|mcs-|verb-|soft-pingpong|connect-(fresh|read)|elastic-fresh");

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
                BenchTarget target = micro.name().startsWith("objects-") ? BenchTarget.OBJECTS : BenchTarget.JMH;
                compare(new Key(target, micro.name(), 1), "ns", Range.of(other), Range.of(micro), changes);
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

    /** What was compared, and what speaks against it. */
    public List<String> sentences() {
        List<String> sentences = new ArrayList<>();
        sentences.add("Compared with the run of %s: of %d figures %d got worse and %d better by more than noise."
                .formatted(earlier, compared, worse.size(), better.size()));
        differences.forEach(each -> sentences.add("Not the same conditions: " + each + "."));
        if (!peers.isEmpty()) {
            sentences.add("%d figures of peers and floors, in which no code of Rackcall takes part, changed, too."
                    .formatted(peers.size()));
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
        Stream<String> main = isRate
                ? Stream.of("ops_per_s")
                : MAIN.stream()
                        .filter(figure -> result.figure(figure).isPresent()
                                && other.figure(figure).isPresent())
                        .limit(1);
        return Stream.concat(main, FURTHER.keySet().stream().sorted())
                .filter(figure -> result.figure(figure).isPresent()
                        && other.figure(figure).isPresent())
                .toList();
    }

    private static void compare(Key key, String figure, Range before, Range now, List<Change> changes) {
        if (now.differsFrom(before, FURTHER.getOrDefault(figure, 0.0))) {
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
                        before.load1m() > MOST_LOAD || now.load1m() > MOST_LOAD
                                ? "load of other work: " + before.load1m() + " -> " + now.load1m()
                                : "")
                .filter(each -> !each.isEmpty())
                .toList();
    }

    private static String difference(String what, Object before, Object now) {
        return Objects.equals(before, now) ? "" : what + ": " + before + " -> " + now;
    }
}
