package dev.rackcall.perf;

import java.io.IOException;
import java.util.List;

/**
 * What a new connection to a running server costs: time until its first reply, and memory of both sides together while it is open.
 */
final class ConnectTarget {
    private static final int WARM_UP = 200;
    private static final int CONNECTIONS = 200;

    private final Workspace workspace;

    ConnectTarget(Workspace workspace) {
        this.workspace = workspace;
    }

    List<Result> measure(Subject subject) throws IOException {
        try (Pair pair = Pair.start(subject, workspace.newPart(), Cores.UNPINNED)) {
            ChildJvm client = pair.client();
            for (int i = 0;
                    i < 2;
                    i++) { // enough for the JIT, and so that pools have their size before memory is counted
                client.ask(Order.counted(Order.Action.OPEN, WARM_UP), Measurement.class);
                client.ask(Order.of(Order.Action.CLOSE), Measurement.class);
            }
            Footprint before = footprint(pair);
            Measurement opened = client.ask(Order.counted(Order.Action.OPEN, CONNECTIONS), Measurement.class);
            Footprint after = footprint(pair);
            Measurement closed = client.ask(Order.of(Order.Action.CLOSE), Measurement.class);
            return List.of(Result.of(subject.name(), Target.CONNECT, 1, subject.bytes(), opened)
                    .with("shared_b", (after.sharedBytes() - before.sharedBytes()) / CONNECTIONS)
                    .with("private_b", (after.privateBytes() - before.privateBytes()) / CONNECTIONS)
                    .with("heap_b", (after.heapBytes() - before.heapBytes()) / CONNECTIONS)
                    .with("close_p50_ns", closed.p50Ns()));
        }
    }

    private static Footprint footprint(Pair pair) {
        Order order = Order.of(Order.Action.FOOTPRINT);
        Footprint client = pair.client().ask(order, Footprint.class);
        return pair.server()
                .map(server -> server.ask(order, Footprint.class).plus(client))
                .orElse(client);
    }
}
