package dev.rackcall.rpc.shm.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.protocol.LostWakeUps;
import dev.rackcall.shm.waiting.SpinLimit;
import dev.rackcall.shm.waiting.Spinning;
import dev.rackcall.shm.waiting.WaitCounts;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Workers that never poll by themselves within the test's time: each wake-up must reach an idle worker. */
class WorkerPoolTest {
    private static final long SEED = 20261121;
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);
    private static final int BOUND = 30;

    private static WorkerPool<Runnable> pool(int count, AtomicInteger refused) {
        return pool(count, WaitStrategy.adaptive(), refused);
    }

    private static WorkerPool<Runnable> pool(int count, WaitStrategy waiting, AtomicInteger refused) {
        return WorkerPool.start(count, 64, waiting, HOUR, Runnable::run, _ -> refused.incrementAndGet());
    }

    /** Entries come when the other workers are about to sleep, sleep or spin, while one of them has a long task. */
    @Test
    void shouldWakeAWorkerThatSleepsWhileAnotherIsBusy() throws Exception {
        Random random = new Random(SEED);
        try (WorkerPool<Runnable> pool = pool(2, new AtomicInteger())) {
            for (int round = 0; round < 40; round++) {
                CountDownLatch end = new CountDownLatch(1);
                CountDownLatch busy = new CountDownLatch(1);
                assertThat(pool.offer(() -> {
                            busy.countDown();
                            awaitQuietly(end);
                        }))
                        .isTrue();
                assertThat(busy.await(BOUND, TimeUnit.SECONDS))
                        .as("seed %d", SEED)
                        .isTrue();
                for (int i = 0; i < 10; i++) {
                    CountDownLatch done = new CountDownLatch(2);
                    LockSupport.parkNanos(random.nextInt(300_000));
                    assertThat(pool.offer(done::countDown)).isTrue();
                    assertThat(pool.offer(done::countDown)).isTrue();
                    assertThat(done.await(BOUND, TimeUnit.SECONDS))
                            .as("seed %d", SEED)
                            .isTrue();
                }
                end.countDown();
            }
        }
    }

    /** Each entry of a pair holds its worker until the other runs, too. */
    @Test
    void shouldPassOnAWakeUpThatCameForAnotherEntry() throws Exception {
        Random random = new Random(SEED);
        try (WorkerPool<Runnable> pool = pool(2, new AtomicInteger())) {
            for (int i = 0; i < 400; i++) {
                CountDownLatch both = new CountDownLatch(2);
                for (int k = 0; k < 2; k++) {
                    LockSupport.parkNanos(random.nextInt(100_000));
                    assertThat(pool.offer(() -> {
                                both.countDown();
                                awaitQuietly(both);
                            }))
                            .isTrue();
                }
                assertThat(both.await(BOUND, TimeUnit.SECONDS))
                        .as("seed %d, pair %d", SEED, i)
                        .isTrue();
            }
        }
    }

    /** An unannounced entry, and one that was announced. */
    @Test
    void shouldCountAnEntryForWhichNoWorkerWasWoken() throws Exception {
        long bound = TimeUnit.MILLISECONDS.toNanos(50);
        try (WorkerPool<Runnable> pool =
                WorkerPool.start(2, 64, WaitStrategy.adaptive(), bound, Runnable::run, _ -> {})) {
            // This thread may lose its processor between the entry and the wake-up.
            LostWakeUps.grace(RpcFixture.GRACE);
            long earlier = WaitCounts.of(WaitCounts.Kind.RESCUED);
            CountDownLatch first = new CountDownLatch(1);
            assertThat(pool.offer(first::countDown)).isTrue();
            awaitQuietly(first);
            assertThat(WaitCounts.of(WaitCounts.Kind.RESCUED)).isEqualTo(earlier);
            LostWakeUps.grace(Duration.ofMillis(20));
            long before = WaitCounts.of(WaitCounts.Kind.RESCUED);
            Await.until("an entry whose wake-up was lost", () -> {
                CountDownLatch late = new CountDownLatch(1);
                // A worker that does not sleep yet finds it by itself.
                pool.queue.offer(late::countDown);
                awaitQuietly(late);
                return WaitCounts.of(WaitCounts.Kind.RESCUED) > before;
            });
        } finally {
            LostWakeUps.grace(RpcFixture.GRACE);
        }
    }

    @Test
    void shouldSpinUnlessWorkersSleepAtOnceOrHaveOneProcessor() {
        assertThat(isSeenSpinning(WaitStrategy.adaptive(), Await.BOUND)).isEqualTo(!Spinning.alwaysShares());
        assertThat(isSeenSpinning(WaitStrategy.busySpin(), Await.BOUND)).isEqualTo(!Spinning.alwaysShares());
        assertThat(isSeenSpinning(WaitStrategy.blocking(), Duration.ofMillis(200)))
                .isFalse();
    }

    /** A worker that spins counts among the spinning threads of the process; the test has no other ones. */
    private static boolean isSeenSpinning(WaitStrategy waiting, Duration bound) {
        // A pool that was closed does not wait for its workers.
        Await.until("no thread to count as one that spins", () -> SpinLimit.enter(1));
        SpinLimit.leave();
        Duration most = Spinning.alwaysShares() ? Duration.ofMillis(200) : bound;
        try (WorkerPool<Runnable> pool = pool(1, waiting, new AtomicInteger())) {
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < most.toNanos()) {
                pool.offer(() -> {});
                for (int i = 0; i < 10_000; i++) {
                    if (!SpinLimit.enter(1)) {
                        return true;
                    }
                    SpinLimit.leave();
                }
            }
            return false;
        }
    }

    @Test
    void shouldRefuseWhatWaitsWhenItIsClosed() throws Exception {
        AtomicInteger refused = new AtomicInteger();
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch busy = new CountDownLatch(1);
        try (WorkerPool<Runnable> pool = pool(1, refused)) {
            assertThat(pool.offer(() -> {
                        busy.countDown();
                        awaitQuietly(end);
                    }))
                    .isTrue();
            assertThat(busy.await(BOUND, TimeUnit.SECONDS)).isTrue();
            for (int i = 0; i < 64; i++) {
                assertThat(pool.offer(() -> {})).isTrue();
            }
            assertThat(pool.offer(() -> {})).as("of 64").isFalse();
        }
        assertThat(refused).hasValue(64);
        end.countDown();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(BOUND, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
