package dev.rackcall.perf.targets;

import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.harness.Footprint;
import dev.rackcall.perf.harness.MeasuredClient;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.SubjectPair;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.io.IOException;
import java.util.List;

/**
 * The cost of a new connection to a running server: time until its first reply, and memory of both sides together while
 * it is open.
 */
public record ConnectTarget(BenchPlan plan, Workspace workspace) {
    private static final int CONNECTIONS = 200;
    /** Connecting runs a lot of code, but each part only a few times: the JIT needs thousands of connections. */
    private static final int LEAST_ROUNDS = 2;

    public List<Result> measure(Subject subject) throws IOException {
        try (SubjectPair pair = SubjectPair.start(subject, workspace.newPart(), Cores.UNPINNED)) {
            MeasuredProcess<MeasuredClient> client = pair.client();
            Measurement cold = warmUp(client);
            Footprint before = footprint(pair);
            Measurement opened = client.ask(side -> side.open(CONNECTIONS));
            Footprint after = footprint(pair);
            Measurement closed = client.ask(MeasuredClient::closeFurther);
            return List.of(Result.of(subject.name(), BenchTarget.CONNECT, 1, subject.bytes(), opened)
                    .with("shared_b", (after.sharedBytes() - before.sharedBytes()) / CONNECTIONS)
                    .with("private_b", (after.privateBytes() - before.privateBytes()) / CONNECTIONS)
                    .with("heap_b", (after.heapBytes() - before.heapBytes()) / CONNECTIONS)
                    .with("close_p50_ns", closed.p50Ns())
                    .with("cold_p50_ns", cold.p50Ns()));
        }
    }

    /**
     * Opens and closes connections for the plan's warm-up time, so that pools reach their final size. Returns the
     * figures of the first round, measured in fresh JVMs.
     */
    private Measurement warmUp(MeasuredProcess<MeasuredClient> client) {
        long begin = System.nanoTime();
        Measurement first = round(client);
        for (int i = 1; i < LEAST_ROUNDS || System.nanoTime() - begin < plan.warmUpNanos(); i++) {
            round(client);
        }
        return first;
    }

    private static Measurement round(MeasuredProcess<MeasuredClient> client) {
        Measurement opened = client.ask(side -> side.open(CONNECTIONS));
        client.ask(MeasuredClient::closeFurther);
        return opened;
    }

    private static Footprint footprint(SubjectPair pair) {
        Footprint client = pair.client().ask(side -> Footprint.ofThisProcess());
        return pair.server()
                .map(server -> server.ask(side -> Footprint.ofThisProcess()).plus(client))
                .orElse(client);
    }
}
