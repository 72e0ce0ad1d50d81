package dev.rackcall.rpc.shm.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.spi.LogLimit;
import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A poller outlives whatever is thrown on its thread, since all its connections depend on it. */
class PollerFailureTest {
    @Test
    void shouldPollOnAfterAnActionThatThrows() throws InterruptedException {
        Poller poller = Poller.start(WaitStrategy.blocking(), SpinTime.ofMemory(), "rackcall-poll-test");
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
            assertThat(PolledServer.isDrained(poller, TimeUnit.SECONDS.toNanos(30)))
                    .isTrue();
        } finally {
            poller.stop(TimeUnit.SECONDS.toNanos(30), Duration.ofSeconds(1));
        }
    }

    @Test
    void shouldLeaveLinesOutAndSayHowMany() {
        AtomicLong now = new AtomicLong();
        LogLimit limit = new LogLimit(now::get);
        int written = 0;
        for (int i = 0; i < 1000; i++) {
            written += limit.allows() ? 1 : 0;
        }
        assertThat(written).isBetween(1, 100);
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        assertThat(limit.allows()).isTrue();
        assertThat(limit.skipped()).contains(Integer.toString(1000 - written));
        assertThat(limit.skipped()).isEmpty();
    }
}
