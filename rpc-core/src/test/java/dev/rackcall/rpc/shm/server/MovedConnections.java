package dev.rackcall.rpc.shm.server;

import dev.rackcall.testkit.Await;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Moves connections between pollers, for tests. */
public final class MovedConnections {
    private MovedConnections() {}

    /** Moves all connections of a server with several pollers to the next one; returns how many. */
    public static int moveAll(PolledServer server) {
        List<Poller> pollers = server.pollers();
        int[] moved = new int[pollers.size()];
        CountDownLatch done = new CountDownLatch(pollers.size());
        for (int i = 0; i < pollers.size(); i++) {
            int number = i;
            Poller from = pollers.get(i);
            Poller to = pollers.get((i + 1) % pollers.size());
            from.post(() -> {
                for (ShmServerConnection connection : from.connections()) {
                    moved[number] += from.handOver(connection, to) ? 1 : 0;
                }
                done.countDown();
            });
        }
        Await.latch(done);
        int sum = 0;
        for (int each : moved) {
            sum += each;
        }
        return sum;
    }
}
