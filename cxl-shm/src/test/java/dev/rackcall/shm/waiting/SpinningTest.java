package dev.rackcall.shm.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class SpinningTest {
    private final SpinTime time = SpinTime.ofMemory();

    @Test
    void shouldSleepAfterItsTime() {
        Spinning spinning = new Spinning(WaitStrategy.ADAPTIVE, time).begin();
        while (spinning.goesOn(false)) {
            assertThat(System.nanoTime() - spinning.start()).isLessThan(TimeUnit.SECONDS.toNanos(10));
        }
    }

    @Test
    void shouldSleepAlsoIfYieldsComeStraightBack() {
        Spinning spinning = new Spinning(WaitStrategy.ADAPTIVE, time).begin();
        while (spinning.goesOnTogether()) {
            assertThat(System.nanoTime() - spinning.start()).isLessThan(TimeUnit.SECONDS.toNanos(10));
        }
    }

    @Test
    void shouldCountYields() {
        Spinning spinning = new Spinning(WaitStrategy.ADAPTIVE, SpinTime.ofDevice());
        long yielded = WaitCounts.of(WaitCounts.Kind.YIELDED);
        // Another thread may have the processor before the yield, which ends one wait but not all.
        Await.until("a yield", () -> spinning.begin().goesOnTogether());
        assertThat(spinning.hasYielded()).isTrue();
        assertThat(spinning.begin().hasYielded()).isFalse();
        assertThat(WaitCounts.of(WaitCounts.Kind.YIELDED)).isGreaterThan(yielded);
    }

    @Test
    void shouldSpinLessAfterItLostItsProcessor() {
        long full = time.next();
        long preempted = WaitCounts.of(WaitCounts.Kind.PREEMPTED);
        Spinning spinning = new Spinning(WaitStrategy.ADAPTIVE, time).begin();
        while (System.nanoTime() - spinning.start() <= time.longestStep()) {
            // As if another thread ran.
            Thread.yield();
        }
        assertThat(spinning.goesOn(false)).isFalse();
        assertThat(spinning.wasPreempted()).isTrue();
        assertThat(WaitCounts.of(WaitCounts.Kind.PREEMPTED)).isGreaterThan(preempted);
        assertThat(time.next()).isEqualTo(full / 2);
        spinning.met();
        assertThat(time.next()).as("its own end proves nothing").isEqualTo(full / 2);
    }

    @Test
    void shouldNeverSleepIfBusy() {
        Spinning spinning = new Spinning(WaitStrategy.BUSY_SPIN, time).begin();
        for (int i = 0; i < 1_000; i++) {
            assertThat(spinning.goesOn(true)).isTrue();
        }
    }

    @Test
    void shouldNotYieldOnAVirtualThread() throws InterruptedException {
        Spinning spinning = new Spinning(WaitStrategy.ADAPTIVE, time).begin();
        AtomicBoolean goesOn = new AtomicBoolean(true);
        Thread.ofVirtual().start(() -> goesOn.set(spinning.goesOnTogether())).join();
        assertThat(goesOn).isFalse();
    }

    @Test
    void shouldSleepAfterItsTimeBesideAThreadThatPollsForOthers() {
        besidePolling(() -> {
            Spinning spinning = new Spinning(WaitStrategy.ADAPTIVE, time).begin();
            while (spinning.goesOn(false)) {
                assertThat(System.nanoTime() - spinning.start()).isLessThan(TimeUnit.SECONDS.toNanos(10));
            }
        });
    }

    @Test
    void shouldSpinOnAVirtualThreadBesideAThreadThatPollsForOthers() {
        AtomicBoolean goesOn = new AtomicBoolean();
        besidePolling(() -> {
            // Another thread may have the processor between the two calls, which ends one wait but not all.
            for (int i = 0; i < 1_000 && !goesOn.get(); i++) {
                Spinning spinning = new Spinning(WaitStrategy.ADAPTIVE, SpinTime.ofDevice());
                joined(() -> goesOn.set(spinning.begin().goesOn(false)));
            }
        });
        assertThat(goesOn).isTrue();
    }

    private static void joined(Runnable task) {
        try {
            Thread.ofVirtual().start(task).join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void besidePolling(Runnable task) {
        Spinning.pollsForOthers(true);
        try {
            assertThat(Spinning.isBesidePolling()).isTrue();
            task.run();
        } finally {
            Spinning.pollsForOthers(false);
        }
    }
}
