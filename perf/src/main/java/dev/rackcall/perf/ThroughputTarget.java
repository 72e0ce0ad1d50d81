package dev.rackcall.perf;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Calls a second from one client thread, with each of the plan's depths in flight. */
final class ThroughputTarget {
    private final Plan plan;
    private final Workspace workspace;

    ThroughputTarget(Plan plan, Workspace workspace) {
        this.plan = plan;
        this.workspace = workspace;
    }

    List<Result> measure(Subject subject) throws IOException {
        List<Result> results = new ArrayList<>();
        try (Pair pair = Pair.start(subject, workspace.newPart(), plan.cores())) {
            int deepest =
                    plan.depths().stream().mapToInt(Integer::intValue).max().orElse(1);
            ask(pair, Order.Action.WARM_UP_PIPELINE, plan.warmUpNanos(), deepest, WarmUp.Outcome.class);
            for (int depth : plan.depths()) {
                Measurement measurement =
                        ask(pair, Order.Action.THROUGHPUT, plan.durationNanos(), depth, Measurement.class);
                results.add(Result.of(subject.name(), Target.THROUGHPUT, depth, subject.bytes(), measurement));
            }
        }
        return results;
    }

    private static <T> T ask(Pair pair, Order.Action action, long nanos, int depth, Class<T> answer) {
        return pair.client().ask(Order.inFlight(action, nanos, depth), answer);
    }
}
