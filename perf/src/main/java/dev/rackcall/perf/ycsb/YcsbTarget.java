package dev.rackcall.perf.ycsb;

import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Rounds;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Result;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/**
 * YCSB's core workloads over a key-value service and over its peers, nothing pinned. In every repeat each peer has fresh
 * processes with a fresh store. They exist at the same time, so that all peers take turns at each workload; idle peers
 * sleep. E follows the other workloads without a reload, and all processes insert the same keys: this differs from YCSB's
 * instructions.
 *
 * @param records in each store before the first workload
 */
public record YcsbTarget(BenchPlan plan, Workspace workspace, Rounds rounds, int records) {
    /** With the usual number of records. */
    public YcsbTarget(BenchPlan plan, Workspace workspace, Rounds rounds) {
        this(plan, workspace, rounds, 100_000);
    }

    /** What the target measures. */
    public static List<Subject> subjects() {
        return YcsbCase.ALL.stream().map(YcsbCase::subject).toList();
    }

    /** Measures the plan's subjects. */
    public List<Result> measure() {
        List<YcsbCase> cases = YcsbCase.ALL.stream()
                .filter(each -> plan.subjects().contains(each.subject()))
                .toList();
        List<Subject> group = cases.stream().map(YcsbCase::subject).toList();
        return withRatios(
                rounds.runGroups(BenchTarget.YCSB, group.isEmpty() ? List.of() : List.of(group), _ -> round(cases)));
    }

    private List<Result> round(List<YcsbCase> cases) {
        Map<YcsbPeer, YcsbStore> stores = new EnumMap<>(YcsbPeer.class);
        List<Result> results = new ArrayList<>();
        try {
            Map<YcsbPeer, List<YcsbCase>> byPeer = cases.stream()
                    .collect(Collectors.groupingBy(
                            YcsbCase::peer, () -> new EnumMap<>(YcsbPeer.class), Collectors.toList()));
            byPeer.forEach((peer, own) -> {
                Subject first = own.getFirst().subject();
                boolean isReady = rounds.attempt(BenchTarget.YCSB, first, () -> {
                    YcsbStore store = new YcsbStore(first, workspace.newPart(), most(own, YcsbCase::processes));
                    stores.put(peer, store);
                    store.load(records);
                    int threads = most(own, YcsbCase::threads);
                    own.stream()
                            .map(YcsbCase::workload)
                            .distinct()
                            .forEach(each -> store.warmUp(each, threads, plan.warmUpNanos()));
                });
                if (!isReady && stores.containsKey(peer)) {
                    stores.remove(peer).close();
                }
            });
            for (YcsbCase each : cases) {
                YcsbStore store = stores.get(each.peer());
                if (store != null) {
                    rounds.attempt(
                            BenchTarget.YCSB,
                            each.subject(),
                            () -> results.add(store.measure(each, plan.durationNanos())));
                }
            }
        } finally {
            stores.values().forEach(YcsbStore::close);
        }
        return results;
    }

    private static int most(List<YcsbCase> cases, ToIntFunction<YcsbCase> count) {
        return cases.stream().mapToInt(count).max().orElseThrow();
    }

    /** With Rackcall's worst run divided by the median of each peer's. */
    static List<Result> withRatios(List<Result> results) {
        Map<String, Result> byName = results.stream().collect(Collectors.toMap(Result::name, Function.identity()));
        List<Result> compared = new ArrayList<>();
        for (YcsbCase each : YcsbCase.ALL) {
            Result result = byName.get(each.subject().name());
            if (result != null) {
                compared.add(each.peer() == YcsbPeer.RACKCALL ? withRatios(each, result, byName) : result);
            }
        }
        return compared;
    }

    private static Result withRatios(YcsbCase rackcall, Result result, Map<String, Result> others) {
        Result compared = result;
        for (YcsbPeer peer : YcsbPeer.values()) {
            Result other = others.get(rackcall.nameOf(peer));
            if (peer != YcsbPeer.RACKCALL && other != null) {
                compared = compared.with(
                        peer.word() + "_ratio", result.figure("worst_ops_per_s").orElseThrow() / other.opsPerS());
            }
        }
        return compared;
    }
}
