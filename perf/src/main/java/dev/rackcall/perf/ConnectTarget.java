package dev.rackcall.perf;

import java.io.IOException;
import java.util.List;

/**
 * What a new connection to a running server costs: time until its first reply, and memory of both sides together while it is open.
 */
final class ConnectTarget {
    private static final int CONNECTIONS = 200;
    /** Connecting runs much code and each of its lines seldom: it takes the JIT some thousands of connections. */
    private static final int LEAST_ROUNDS = 2;

    private final Plan plan;
    private final Workspace workspace;

    ConnectTarget(Plan plan, Workspace workspace) {
        this.plan = plan;
        this.workspace = workspace;
    }

    List<Result> measure(Subject subject) throws IOException {
        try (Pair pair = Pair.start(subject, workspace.newPart(), Cores.UNPINNED)) {
            ChildJvm client = pair.client();
            Measurement cold = warmUp(client);
            Footprint before = footprint(pair);
            Measurement opened = client.ask(Order.counted(Order.Action.OPEN, CONNECTIONS), Measurement.class);
            Footprint after = footprint(pair);
            Measurement closed = client.ask(Order.of(Order.Action.CLOSE), Measurement.class);
            return List.of(Result.of(subject.name(), Target.CONNECT, 1, subject.bytes(), opened)
                    .with("shared_b", (after.sharedBytes() - before.sharedBytes()) / CONNECTIONS)
                    .with("private_b", (after.privateBytes() - before.privateBytes()) / CONNECTIONS)
                    .with("heap_b", (after.heapBytes() - before.heapBytes()) / CONNECTIONS)
                    .with("close_p50_ns", closed.p50Ns())
                    .with("cold_p50_ns", cold.p50Ns()));
        }
    }

    /** Opens and closes connections as long as the plan says; returns the first round, which fresh JVMs have made. */
    private Measurement warmUp(ChildJvm client) {
        long begin = System.nanoTime();
        Measurement first = round(client);
        for (int i = 1; i < LEAST_ROUNDS || System.nanoTime() - begin < plan.warmUpNanos(); i++) {
            round(client);
        }
        return first;
    }

    /** Pools have their size after it, before memory is counted. */
    private static Measurement round(ChildJvm client) {
        Measurement opened = client.ask(Order.counted(Order.Action.OPEN, CONNECTIONS), Measurement.class);
        client.ask(Order.of(Order.Action.CLOSE), Measurement.class);
        return opened;
    }

    private static Footprint footprint(Pair pair) {
        Order order = Order.of(Order.Action.FOOTPRINT);
        Footprint client = pair.client().ask(order, Footprint.class);
        return pair.server()
                .map(server -> server.ask(order, Footprint.class).plus(client))
                .orElse(client);
    }
}
