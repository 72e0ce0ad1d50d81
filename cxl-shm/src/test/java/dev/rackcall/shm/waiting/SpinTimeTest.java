package dev.rackcall.shm.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class SpinTimeTest {
    private static final long LONG_WAIT = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long SHORT_WAIT = TimeUnit.MICROSECONDS.toNanos(30);
    private static final long SLICE = TimeUnit.MILLISECONDS.toNanos(3);

    private final SpinTime time = SpinTime.ofMemory();
    private long now = System.nanoTime();

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
        preempt();
        assertThat(time.next()).isEqualTo(full / 2);
        preempt();
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
            preempt();
        }
        assertThat(time.next()).isLessThan(SHORT_WAIT);
        for (int i = 0; i < 1_000; i++) {
            if (time.next() > SHORT_WAIT) {
                time.met(SHORT_WAIT);
            }
        }
        assertThat(LongStream.generate(time::next).limit(2)).containsOnly(full);
    }

    @Test
    void shouldHalveTheTimeOnceForAPauseOfManyThreads() {
        long full = time.next();
        // They get their processors back one after the other.
        time.preempted(now, now + SLICE);
        time.preempted(now, now + 2 * SLICE);
        time.preempted(now, now + 3 * SLICE);
        assertThat(time.next()).isEqualTo(full / 2);
        time.preempted(now + SLICE + 1_000, now + 4 * SLICE);
        assertThat(time.next()).as("stopped again at once").isEqualTo(full / 2);
        now += 4 * SLICE;
        preempt();
        assertThat(time.next()).as("a pause of its own").isEqualTo(full / 4);
    }

    /** A time slice passes, in which the thread spins, and then one in which it has no processor. */
    private void preempt() {
        time.preempted(now + SLICE, now + 2 * SLICE);
        now += 2 * SLICE;
    }

    private void sleepLong() {
        for (int i = 0; i < 10; i++) {
            time.slept(LONG_WAIT);
        }
    }
}
