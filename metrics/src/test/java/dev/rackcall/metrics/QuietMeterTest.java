package dev.rackcall.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.testkit.Await;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Meters allocate nothing while nothing listens. */
class QuietMeterTest {
    /** Rounds at least; the first run in the interpreter. */
    private static final int ROUNDS = 500;

    /** Few calls: one whose answer takes long allocates for its wait. */
    private static final int CALLS = 20;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void shouldAllocateNothingAtTheCaller(@TempDir Path folder) {
        CallMetrics metrics = new CallMetrics(new CompositeMeterRegistry());
        CallEvents events = new CallEvents();
        try (RpcServer _ = RpcServer.builder()
                        .runtimeFolder(folder)
                        .service(Shop.class, new Shop.OneGood())
                        .meter(metrics)
                        .meter(events)
                        .start();
                RpcChannel channel = RpcChannel.builder("/test/shop")
                        .runtimeFolder(folder)
                        .meter(metrics)
                        .meter(events)
                        .open()) {
            Shop shop = channel.stub(Shop.class);
            long least = Long.MAX_VALUE;
            long end = System.nanoTime() + Await.BOUND.toNanos();
            for (int round = 0; least > 0 && (round < ROUNDS || System.nanoTime() - end < 0); round++) {
                long before = THREADS.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < CALLS; i++) {
                    shop.price("tea");
                }
                least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
            }
            assertThat(least).as("bytes of %d calls", CALLS).isZero();
        }
    }
}
