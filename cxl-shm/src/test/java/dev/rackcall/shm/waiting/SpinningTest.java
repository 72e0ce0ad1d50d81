package dev.rackcall.shm.waiting;

import static org.assertj.core.api.Assertions.assertThat;

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
}
