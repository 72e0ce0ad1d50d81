package dev.rackcall.rpc.shm.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A thread that is interrupted waits for the end of calls as any other does. */
class InterruptedDrainTest {
    private static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(30);

    @Test
    void shouldWaitForThePollersDecisionOnAnInterruptedThread() throws Exception {
        Poller poller =
                Poller.start(WaitStrategy.blocking(), SpinTime.ofMemory(), () -> false, () -> {}, "rackcall-poll-test");
        CountDownLatch busy = new CountDownLatch(1);
        try {
            poller.post(() -> Await.latch(busy));
            AtomicReference<Thread> draining = new AtomicReference<>();
            AtomicBoolean kept = new AtomicBoolean();
            CompletableFuture<Boolean> drained = Concurrently.start(() -> {
                Thread.currentThread().interrupt();
                draining.set(Thread.currentThread());
                boolean idle = PolledServer.areAll(poller, ShmServerConnection::isIdle, BOUND_NANOS);
                kept.set(Thread.currentThread().isInterrupted());
                return idle;
            });
            Await.until(
                    "it waits",
                    () -> drained.isDone()
                            || (draining.get() != null && draining.get().getState() == Thread.State.TIMED_WAITING));
            busy.countDown();
            assertThat(drained).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(true);
            assertThat(kept).as("the interrupt is kept").isTrue();
        } finally {
            busy.countDown();
            poller.stop(BOUND_NANOS, Duration.ofSeconds(1));
        }
    }
}
