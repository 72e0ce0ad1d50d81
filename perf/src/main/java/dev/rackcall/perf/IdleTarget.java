package dev.rackcall.perf;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * What idleness costs: the processor time of a server and of a client process whose connections have nothing to do, the latency of calls that
 * come rarely, and what many idle connections do to a busy one.
 */
final class IdleTarget {
    private static final int IDLE_CLIENTS = 10;
    private static final int IDLE_CONNECTIONS = 1000;
    private static final double RARE_CALLS_PER_SECOND = 20;
    private static final long LEAST_NANOS = 5_000_000_000L;
    private static final long SETTLE_NANOS = 2_000_000_000L;

    private final Plan plan;
    private final Workspace workspace;

    IdleTarget(Plan plan, Workspace workspace) {
        this.plan = plan;
        this.workspace = workspace;
    }

    List<Result> measure(Subject subject) throws IOException {
        return List.of(idleProcesses(subject), idleConnections(subject));
    }

    private Result idleProcesses(Subject subject) throws IOException {
        long nanos = Math.max(LEAST_NANOS, plan.durationNanos());
        try (Pair pair = Pair.start(subject, workspace.newPart(), Cores.UNPINNED)) {
            ChildJvm client = pair.client();
            ChildJvm server = pair.server().orElse(client);
            client.ask(Order.timed(Order.Action.WARM_UP, plan.warmUpNanos()), WarmUp.Outcome.class);
            client.ask(Order.counted(Order.Action.OPEN, IDLE_CLIENTS), Measurement.class);
            pause(SETTLE_NANOS);
            long start = System.nanoTime();
            long serverBefore = ProcessorTime.ofProcess(server.pid());
            long clientBefore = ProcessorTime.ofProcess(client.pid());
            pause(nanos);
            double elapsed = System.nanoTime() - start;
            double serverShare = 100 * (ProcessorTime.ofProcess(server.pid()) - serverBefore) / elapsed;
            double clientShare = 100 * (ProcessorTime.ofProcess(client.pid()) - clientBefore) / elapsed;
            Measurement rare = client.ask(Order.atRate(nanos, RARE_CALLS_PER_SECOND), Measurement.class);
            return Result.of(subject.name() + "-rare", Target.IDLE, 1, subject.bytes(), rare)
                    .with("idle_clients", (long) IDLE_CLIENTS + 1)
                    .with("server_cpu_percent", serverShare)
                    .with("client_cpu_percent", clientShare);
        }
    }

    private Result idleConnections(Subject subject) throws IOException {
        try (Pair pair = Pair.start(subject, workspace.newPart(), plan.cores())) {
            ChildJvm busy = pair.client();
            busy.ask(Order.timed(Order.Action.WARM_UP, plan.warmUpNanos()), WarmUp.Outcome.class);
            Order measure = Order.timed(Order.Action.CLOSED, plan.durationNanos());
            Measurement alone = busy.ask(measure, Measurement.class);
            busy.ask(Order.counted(Order.Action.OPEN, IDLE_CONNECTIONS), Measurement.class);
            pause(SETTLE_NANOS);
            busy.ask(Order.timed(Order.Action.WARM_UP, plan.warmUpNanos()), WarmUp.Outcome.class);
            Measurement among = busy.ask(measure, Measurement.class);
            return Result.of(subject.name() + "-among-idle", Target.IDLE, 1, subject.bytes(), among)
                    .with("idle_connections", (long) IDLE_CONNECTIONS)
                    .with("alone_p50_ns", alone.p50Ns())
                    .with("p50_ratio", (double) among.p50Ns() / alone.p50Ns());
        }
    }

    private static void pause(long nanos) {
        long until = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
