package dev.rackcall.shm.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class SpinTimeTest {
    private static final long LONG_WAIT = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long SHORT_WAIT = TimeUnit.MICROSECONDS.toNanos(30);

    private final SpinTime time = SpinTime.ofMemory();

    @Test
    void shouldSpinAtFirst() {
        assertThat(time.next()).isPositive();
    }

    @Test
    void shouldNotSpinForWaitsThatTakeMilliseconds() {
        sleepLong();
        assertThat(time.next()).isZero();
    }

    @Test
    void shouldTryNowAndThenWhetherSpinningPaysAgain() {
        sleepLong();
        long trials = LongStream.generate(time::next)
                .limit(320)
                .filter(nanos -> nanos > 0)
                .count();
        assertThat(trials).isEqualTo(10);
    }

    @Test
    void shouldSpinLessAfterAFullSpinThatMetNothing() {
        time.slept(SHORT_WAIT);
        long full = time.next();
        time.slept(SHORT_WAIT);
        assertThat(time.next()).isLessThan(full);
    }

    @Test
    void shouldSpinAgainOnceASleepEndsEarly() {
        sleepLong();
        time.slept(SHORT_WAIT);
        assertThat(time.next()).isGreaterThan(SHORT_WAIT);
    }

    @Test
    void shouldSpinLongerThanTheWaitsThatSpinningMet() {
        time.slept(LONG_WAIT);
        time.met(SHORT_WAIT);
        assertThat(time.next()).isGreaterThan(SHORT_WAIT);
    }

    @Test
    void shouldSpinAgainOnceATrialMeetsAtOnce() {
        sleepLong();
        time.met(0);
        assertThat(time.next()).isPositive();
    }

    @Test
    void shouldSpinLongerForADevice() {
        SpinTime device = SpinTime.ofDevice();
        device.slept(SHORT_WAIT);
        time.slept(SHORT_WAIT);
        assertThat(device.next()).isGreaterThan(time.next());
    }

    @Test
    void shouldHalveTheTimeForEachPreemptedWaitUntilWaitsAreMet() {
        long full = time.next();
        time.preempted();
        assertThat(time.next()).isEqualTo(full / 2);
        time.preempted();
        assertThat(time.next()).isEqualTo(full / 4);
        time.met(0);
        assertThat(time.next()).isEqualTo(full / 2);
        time.met(0);
        assertThat(time.next()).isEqualTo(full);
    }

    @Test
    void shouldRecoverFromManyPreemptedWaitsThroughTrials() {
        time.slept(SHORT_WAIT);
        long full = time.next();
        for (int i = 0; i < 1_000; i++) {
            time.preempted();
        }
        assertThat(time.next()).isLessThan(SHORT_WAIT);
        for (int i = 0; i < 1_000; i++) {
            if (time.next() > SHORT_WAIT) {
                time.met(SHORT_WAIT);
            }
        }
        assertThat(LongStream.generate(time::next).limit(2)).containsOnly(full);
    }

    private void sleepLong() {
        for (int i = 0; i < 10; i++) {
            time.slept(LONG_WAIT);
        }
    }
}
