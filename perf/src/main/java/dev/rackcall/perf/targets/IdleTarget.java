package dev.rackcall.perf.targets;

import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.harness.Footprint;
import dev.rackcall.perf.harness.MeasuredClient;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.SubjectPair;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The cost of idle processes: the processor time of a server and of a client process whose connections have nothing to
 * do, their memory, the latency of rare calls, and the effect of many idle connections on a busy one.
 */
public record IdleTarget(BenchPlan plan, Workspace workspace) {
    private static final int IDLE_CLIENTS = 10;
    private static final int IDLE_CONNECTIONS = 1000;
    private static final double RARE_CALLS_PER_SECOND = 20;
    private static final long LEAST_NANOS = 5_000_000_000L;
    /** Shorter runs leave {@link WatchedTarget} out, which takes more than two minutes. */
    private static final long LEAST_WATCHED_NANOS = 1_000_000_000L;

    private static final long SETTLE_NANOS = 2_000_000_000L;

    public List<Result> measure(Subject subject) throws IOException {
        List<Result> results = new ArrayList<>(List.of(
                idleProcesses(subject, "-one-idle", 0),
                idleProcesses(subject, "-rare", IDLE_CLIENTS),
                idleConnections(subject)));
        if (subject.name().startsWith("rackcall")
                && plan.durationNanos() >= LEAST_WATCHED_NANOS
                && WatchedTarget.isPossible()) {
            results.add(new WatchedTarget(plan, workspace, WatchedTarget.Phases.USUAL).measure(subject));
        }
        return results;
    }

    /** @param further connections of the client beside its first */
    private Result idleProcesses(Subject subject, String suffix, int further) throws IOException {
        long nanos = Math.max(LEAST_NANOS, plan.durationNanos());
        try (SubjectPair pair = SubjectPair.start(subject, workspace.newPart(), Cores.UNPINNED)) {
            MeasuredProcess<MeasuredClient> client = pair.client();
            MeasuredProcess<?> server =
                    pair.server().isPresent() ? pair.server().get() : client;
            warmUp(client);
            client.ask(side -> side.open(further));
            pause(SETTLE_NANOS);
            long start = System.nanoTime();
            long serverBefore = server.processorNanos();
            long clientBefore = client.processorNanos();
            pause(nanos);
            double elapsed = System.nanoTime() - start;
            double serverShare = 100 * (server.processorNanos() - serverBefore) / elapsed;
            double clientShare = 100 * (client.processorNanos() - clientBefore) / elapsed;
            Measurement rare = client.ask(nanos, side -> side.atRate(nanos, RARE_CALLS_PER_SECOND));
            return Result.of(subject.name() + suffix, BenchTarget.IDLE, 1, subject.bytes(), rare)
                    .with("idle_clients", (long) further + 1)
                    .with("server_cpu_percent", serverShare)
                    .with("client_cpu_percent", clientShare)
                    .with("cpu_percent", serverShare + clientShare);
        }
    }

    private Result idleConnections(Subject subject) throws IOException {
        long nanos = plan.durationNanos();
        try (SubjectPair pair = SubjectPair.start(subject, workspace.newPart(), plan.cores())) {
            MeasuredProcess<MeasuredClient> busy = pair.client();
            warmUp(busy);
            Measurement alone = busy.ask(nanos, side -> side.slice(nanos));
            busy.ask(side -> side.open(IDLE_CONNECTIONS));
            pause(SETTLE_NANOS);
            warmUp(busy);
            Measurement among = busy.ask(nanos, side -> side.slice(nanos));
            return Result.of(subject.name() + "-among-idle", BenchTarget.IDLE, 1, subject.bytes(), among)
                    .with("idle_connections", (long) IDLE_CONNECTIONS)
                    .with("alone_p50_ns", alone.p50Ns())
                    .with("p50_ratio", (double) among.p50Ns() / alone.p50Ns());
        }
    }

    /**
     * A thousand connections of one client to one server: the processor time and the memory of both processes together,
     * while there are no calls, and then the latency of rare calls.
     */
    public List<Result> thousand(Subject subject) throws IOException {
        long nanos = Math.max(LEAST_NANOS, plan.durationNanos());
        try (SubjectPair pair = SubjectPair.start(subject, workspace.newPart(), Cores.UNPINNED)) {
            MeasuredProcess<MeasuredClient> client = pair.client();
            MeasuredProcess<ServerSide> server = pair.server().orElseThrow();
            warmUp(client);
            // Connects once before measuring: pools reach their final size, and most code of connecting is compiled.
            client.ask(side -> side.open(IDLE_CONNECTIONS));
            client.ask(MeasuredClient::closeFurther);
            pause(SETTLE_NANOS);
            Footprint before = footprint(client, server);
            client.ask(side -> side.open(IDLE_CONNECTIONS));
            pause(SETTLE_NANOS);
            long start = System.nanoTime();
            long processorBefore = server.processorNanos() + client.processorNanos();
            pause(nanos);
            double elapsed = System.nanoTime() - start;
            long processor = server.processorNanos() + client.processorNanos() - processorBefore;
            Footprint after = footprint(client, server);
            Measurement rare = client.ask(nanos, side -> side.atRate(nanos, RARE_CALLS_PER_SECOND));
            double shared = mebibytes(after.sharedBytes() - before.sharedBytes());
            double heap = mebibytes(after.heapBytes() - before.heapBytes());
            // The heap's pages were there before.
            double others = mebibytes(after.privateBytes() - before.privateBytes());
            return List.of(Result.of(subject.name(), BenchTarget.GRPC, 1, subject.bytes(), rare)
                    .with("idle_connections", (long) IDLE_CONNECTIONS)
                    .with("cpu_percent", 100 * processor / elapsed)
                    .with("memory_mib", shared + heap + others)
                    .with("shared_mib", shared)
                    .with("heap_mib", heap));
        }
    }

    private static Footprint footprint(MeasuredProcess<MeasuredClient> client, MeasuredProcess<ServerSide> server) {
        return client.ask(side -> Footprint.ofThisProcess()).plus(server.ask(side -> Footprint.ofThisProcess()));
    }

    private static double mebibytes(long bytes) {
        return bytes / (double) (1 << 20);
    }

    private void warmUp(MeasuredProcess<MeasuredClient> client) {
        long nanos = plan.warmUpNanos();
        client.ask(nanos, side -> side.warmUp(nanos));
    }

    private static void pause(long nanos) {
        long until = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
