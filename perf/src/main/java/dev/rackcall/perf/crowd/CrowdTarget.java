package dev.rackcall.perf.crowd;

import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Launch;
import dev.rackcall.perf.harness.Rounds;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Result;
import dev.rackcall.shm.os.Affinity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Calls from several client processes to one server process, none of them pinned. In every repeat each peer has fresh
 * processes, because the kernel places them differently each time: the server, and clients that are added as the
 * results need them. Where all share one processor, the repeats use the same processes. One peer's processes exist at a
 * time.
 */
public record CrowdTarget(BenchPlan plan, Workspace workspace, Rounds rounds) {
    /** On one processor, warming up takes ten times as long. */
    private static final int MOST_WARM_UPS = 10;

    /** What the target measures. */
    public static List<Subject> subjects() {
        return CrowdCase.ALL.stream().map(CrowdCase::subject).toList();
    }

    /** Measures the plan's subjects. */
    public List<Result> measure() {
        try (Burners burners = new Burners(workspace)) {
            List<Result> results = new ArrayList<>(rounds.runGroups(
                    BenchTarget.CROWD, groups(false), plan.repeat(), group -> measured(cases(group), burners, 1)));
            results.addAll(rounds.runGroups(
                    BenchTarget.CROWD, groups(true), 1, group -> measured(cases(group), burners, plan.repeat())));
            return withRatios(results);
        }
    }

    private List<List<Subject>> groups(boolean areLimited) {
        return List.copyOf(CrowdCase.ALL.stream()
                .filter(each -> each.surroundings().isLimited() == areLimited
                        && plan.subjects().contains(each.subject()))
                .map(CrowdCase::subject)
                .collect(Collectors.groupingBy(Subject::group, LinkedHashMap::new, Collectors.toList()))
                .values());
    }

    /** The cases that these subjects measure, small crowds first. */
    private static List<CrowdCase> cases(List<Subject> subjects) {
        return CrowdCase.ALL.stream()
                .filter(each -> subjects.contains(each.subject()))
                .sorted(Comparator.comparingInt(CrowdCase::clients))
                .toList();
    }

    /** The results of cases that share processes, each measured {@code times} times. */
    private List<Result> measured(List<CrowdCase> cases, Burners burners, int times) {
        List<Result> results = new ArrayList<>();
        rounds.attempt(BenchTarget.CROWD, cases.getFirst().subject(), () -> {
            switch (cases.getFirst().surroundings()) {
                case PLAIN, BURN2, JOLT, IDLE64 -> measure(cases, burners, List.of(), times, results);
                case NICE -> measure(cases, burners, List.of("nice", "-n", "10"), times, results);
                case BATCH -> measure(cases, burners, List.of("chrt", "-b", "0"), times, results);
                case ONE -> {
                    int[] processors = Affinity.available();
                    List<String> pinned = List.of("taskset", "-c", Integer.toString(processors[processors.length - 1]));
                    measure(cases, burners, pinned, times, results);
                }
                case QUOTA1 -> {
                    try (QuotaGroup group = QuotaGroup.create()) {
                        measure(cases, burners, group.wrapper(), times, results);
                    }
                }
            }
        });
        return results;
    }

    private void measure(List<CrowdCase> cases, Burners burners, List<String> wrapper, int times, List<Result> results)
            throws IOException {
        int most = cases.getLast().clients();
        int idle = cases.getFirst().surroundings().idleConnections();
        Launch launch = Launch.asUsersDo().within(wrapper).withHeap(Crowd.heap(most + (idle > 0 ? 2 : 1)));
        try (Crowd crowd = new Crowd(cases.getFirst().subject(), workspace.newPart(), launch)) {
            if (idle > 0) {
                crowd.connectIdle(idle);
            }
            for (CrowdCase each : cases) {
                crowd.grow(each.clients(), plan.warmUpNanos());
                if (each.surroundings().isLimited()) {
                    crowd.settle(MOST_WARM_UPS * plan.warmUpNanos());
                }
                for (int i = 0; i < times; i++) {
                    CrowdRun run = burners.beside(each.surroundings(), () -> crowd.measure(plan.durationNanos()));
                    results.add(run.result(each.subject().name()));
                }
            }
        }
    }

    /**
     * In the order of the report, with Rackcall's worst run divided by the median of each peer's; to the socket's also
     * the latency of the slowest calls and the processor time of a call.
     */
    static List<Result> withRatios(List<Result> results) {
        Map<String, Result> byName = results.stream().collect(Collectors.toMap(Result::name, Function.identity()));
        List<Result> ordered = new ArrayList<>();
        for (CrowdCase each : CrowdCase.ALL) {
            Result result = byName.get(each.subject().name());
            if (result != null) {
                ordered.add(each.peer() == CrowdPeer.RACKCALL ? withRatios(each, result, byName) : result);
            }
        }
        return ordered;
    }

    private static Result withRatios(CrowdCase rackcall, Result result, Map<String, Result> others) {
        Result compared = result;
        for (CrowdPeer peer : CrowdPeer.values()) {
            Result other = others.get(rackcall.nameOf(peer));
            if (peer != CrowdPeer.RACKCALL && other != null) {
                String word = peer.word().replace('-', '_');
                compared = compared.with(word + "_ratio", ratio(result, other, "ops_per_s"));
                if (peer == CrowdPeer.UDS) {
                    compared = compared.with(word + "_p99_ratio", ratio(result, other, "p99_ns"))
                            .with(word + "_cpu_ratio", ratio(result, other, "cpu_s_per_million"));
                }
            }
        }
        return compared;
    }

    /** The worst run's figure divided by the median of the other's. */
    private static double ratio(Result result, Result other, String figure) {
        return result.figure("worst_" + figure).orElseThrow()
                / other.figure(figure).orElseThrow();
    }
}
