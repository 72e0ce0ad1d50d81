package dev.rackcall.rpc.shm.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A poller outlives whatever is thrown on its thread, since all its connections depend on it. */
class PollerFailureTest {
    @Test
    void shouldPollOnAfterAnActionThatThrows() throws InterruptedException {
        Poller poller =
                Poller.start(WaitStrategy.blocking(), SpinTime.ofMemory(), () -> false, () -> {}, "rackcall-poll-test");
        try {
            CountDownLatch after = new CountDownLatch(1);
            poller.post(() -> {
                throw new IllegalStateException("expected in this test");
            });
            poller.post(() -> {
                throw new StackOverflowError("expected in this test");
            });
            poller.post(after::countDown);
            assertThat(after.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(PolledServer.areAll(poller, ShmServerConnection::isIdle, TimeUnit.SECONDS.toNanos(30)))
                    .isTrue();
        } finally {
            poller.stop(TimeUnit.SECONDS.toNanos(30), Duration.ofSeconds(1));
        }
    }
}
