package dev.rackcall.rpc.shm.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.rpc.spi.TestSpecs;
import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.testkit.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The thread that watches a server's pollers wakes up less often while all of them sleep, until one wakes up. */
class RestingServerTest {
    private static final Duration STUCK_AFTER = Duration.ofMillis(20);
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** A server that only has pollers. */
    private static final class Watched extends PolledServer {
        final AtomicInteger wakeUps = new AtomicInteger();

        Watched(ServerSpec spec) {
            super(spec);
            startPollers(SpinTime::ofMemory);
        }

        @Override
        protected void wakeWatcher() {
            wakeUps.incrementAndGet();
        }

        @Override
        public void close() {
            endCalls();
        }
    }

    @Test
    void shouldRestUntilAPollerWakesUp(@TempDir Path directory) {
        ServerSpec.Service<Echo> service =
                new ServerSpec.Service<>(ServiceDefinition.of(Echo.class), (method, call) -> {});
        ServerSpec spec = TestSpecs.server(service, TestSpecs.threads(Dispatch.direct(), 1, STUCK_AFTER), 1, directory);
        try (Watched server = new Watched(spec)) {
            Poller poller = server.pollers().getFirst();
            for (int i = 0; i < 2; i++) {
                Await.until("the watching thread rests", () -> server.untilNextWatch() > TICK_NANOS);
                int before = server.wakeUps.get();
                CompletableFuture<Boolean> awake = new CompletableFuture<>();
                poller.post(() -> awake.complete(poller.isAwake()));
                assertThat(awake)
                        .as("whether the poller is awake")
                        .succeedsWithin(Duration.ofSeconds(30))
                        .isEqualTo(true);
                Await.until("the poller wakes it", () -> server.wakeUps.get() > before);
                server.watchPollers();
            }
        }
    }
}
