package dev.rackcall.perf.targets;

import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.SubjectPair;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Calls a second from one client thread, with each of the plan's depths in flight. */
public record ThroughputTarget(BenchPlan plan, Workspace workspace) {
    public List<Result> measure(Subject subject) throws IOException {
        List<Result> results = new ArrayList<>();
        try (SubjectPair pair = SubjectPair.start(subject, workspace.newPart(), plan.cores())) {
            long warmUpNanos = plan.warmUpNanos();
            int deepest =
                    plan.depths().stream().mapToInt(Integer::intValue).max().orElse(1);
            pair.client().ask(warmUpNanos, client -> client.warmUpPipeline(warmUpNanos, deepest));
            for (int depth : plan.depths()) {
                long nanos = plan.durationNanos();
                Measurement measurement = pair.client().ask(nanos, client -> client.throughput(nanos, depth));
                results.add(Result.of(subject.name(), BenchTarget.THROUGHPUT, depth, subject.bytes(), measurement));
            }
        }
        return results;
    }
}
