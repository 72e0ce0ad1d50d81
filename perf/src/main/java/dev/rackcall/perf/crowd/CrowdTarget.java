package dev.rackcall.perf.crowd;

import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Launch;
import dev.rackcall.perf.harness.Rounds;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Result;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Calls from several client processes to one server process, none of them pinned. In every repeat each peer has fresh
 * processes: the server, and clients that are added as the results need them. One peer's processes exist at a time.
 */
public record CrowdTarget(BenchPlan plan, Workspace workspace, Rounds rounds) {
    /** What the target measures. */
    public static List<Subject> subjects() {
        return CrowdCase.ALL.stream().map(CrowdCase::subject).toList();
    }

    /** Measures the plan's subjects. */
    public List<Result> measure() {
        Map<String, List<Subject>> groups = plan.subjects().stream()
                .filter(subject -> subject.isOf(BenchTarget.CROWD))
                .collect(Collectors.groupingBy(Subject::group, LinkedHashMap::new, Collectors.toList()));
        List<Result> results =
                rounds.runGroups(BenchTarget.CROWD, List.copyOf(groups.values()), this::measureInFreshProcesses);
        return withRatios(results);
    }

    private List<Result> measureInFreshProcesses(List<Subject> group) {
        List<Result> results = new ArrayList<>();
        rounds.attempt(BenchTarget.CROWD, group.getFirst(), () -> {
            try (Crowd crowd = new Crowd(group.getFirst(), workspace.newPart(), Launch.asUsersDo())) {
                for (CrowdCase each : cases(group)) {
                    crowd.grow(each.clients(), plan.warmUpNanos());
                    results.add(crowd.measure(plan.durationNanos())
                            .result(each.subject().name()));
                }
            }
        });
        return results;
    }

    private static List<CrowdCase> cases(List<Subject> subjects) {
        return CrowdCase.ALL.stream()
                .filter(each -> subjects.contains(each.subject()))
                .toList();
    }

    /** In the order of the report, with Rackcall's worst run divided by the median of each peer's. */
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
        double worst = result.figure("worst_ops_per_s").orElseThrow();
        Result compared = result;
        for (CrowdPeer peer : CrowdPeer.values()) {
            Result other = others.get(rackcall.nameOf(peer));
            if (peer != CrowdPeer.RACKCALL && other != null) {
                compared = compared.with(peer.word().replace('-', '_') + "_ratio", worst / other.opsPerS());
            }
        }
        return compared;
    }
}
