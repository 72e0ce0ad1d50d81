package dev.rackcall.perf;

import java.io.IOException;
import java.util.List;

/** Round trips, one call in flight: closed loop, or at a fixed rate if the plan has one. */
final class RttTarget {
    /** Allocation is counted over about so many seconds of calls. */
    private static final double ALLOCATION_SECONDS = 0.3;

    private final Plan plan;
    private final Workspace workspace;

    RttTarget(Plan plan, Workspace workspace) {
        this.plan = plan;
        this.workspace = workspace;
    }

    List<Result> measure(Subject subject) throws IOException {
        try (Pair pair = Pair.start(subject, workspace.newPart(), plan.cores())) {
            ChildJvm client = pair.client();
            WarmUp.Outcome warmUp =
                    client.ask(Order.timed(Order.Action.WARM_UP, plan.warmUpNanos()), WarmUp.Outcome.class);
            Order order = plan.rate().isPresent()
                    ? Order.atRate(plan.durationNanos(), plan.rate().getAsDouble())
                    : Order.timed(Order.Action.CLOSED, plan.durationNanos());
            Measurement measurement = client.ask(order, Measurement.class);
            Result result = Result.of(subject.name(), Target.RTT, 1, subject.bytes(), measurement)
                    .with("mode", plan.rate().isPresent() ? "fixed rate" : "closed loop")
                    .with("settled", warmUp.settled());
            return List.of(withAllocation(result, pair, warmUp.opsPerS()));
        }
    }

    /** Bytes of Java heap that one call allocates: in the calling thread, and in all threads of the process that serves. */
    private static Result withAllocation(Result result, Pair pair, double opsPerS) {
        int calls = (int) Math.max(100, ALLOCATION_SECONDS * opsPerS);
        Order before = Order.of(Order.Action.ALLOCATED);
        if (pair.server().isEmpty()) {
            return result.with("alloc_client_b", perCall(allocation(pair, calls)));
        }
        ChildJvm server = pair.server().get();
        server.ask(before, Allocation.class); // the first answer loads classes
        long served = server.ask(before, Allocation.class).bytes();
        Allocation called = allocation(pair, calls);
        long bytes = server.ask(before, Allocation.class).bytes() - served;
        return result.with("alloc_client_b", perCall(called))
                .with("alloc_server_b", perCall(new Allocation(bytes, calls)));
    }

    private static Allocation allocation(Pair pair, int calls) {
        return pair.client().ask(Order.counted(Order.Action.ALLOCATION, calls), Allocation.class);
    }

    private static double perCall(Allocation allocation) {
        return (double) allocation.bytes() / allocation.calls();
    }
}
