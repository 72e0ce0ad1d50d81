package dev.rackcall.lock;

import dev.rackcall.lock.Schedule.Mortal;
import java.util.Random;

/**
 * How a finisher rests. Other threads may run between any two looks at the shared words. Only a deliberate wake ends
 * the rest; a wake before the rest is lost to a shorter one.
 */
final class ScheduledRest extends FinisherRest {
    private final Schedule schedule;
    private final Mortal mortal;
    private final Random random;
    private boolean resting;
    private boolean woken;
    private int sleeps;

    ScheduledRest(Schedule schedule, Mortal mortal) {
        this.schedule = schedule;
        this.mortal = mortal;
        random = schedule.random();
    }

    @Override
    boolean isAsleep() {
        schedule.step(mortal);
        return super.isAsleep();
    }

    @Override
    void setAsleep(boolean now) {
        // It may pause after it has looked.
        for (int pauses = random.nextInt(30); pauses >= 0; pauses--) {
            schedule.step(mortal);
        }
        super.setAsleep(now);
        sleeps += now ? 1 : 0;
    }

    @Override
    boolean isClosed() {
        schedule.step(mortal);
        return super.isClosed();
    }

    @Override
    void close() {
        schedule.step(mortal);
        super.close();
    }

    @Override
    void untilNextLook() {
        schedule.step(mortal);
        woken = false;
    }

    @Override
    void untilWoken() {
        resting = true;
        do {
            schedule.step(mortal);
        } while (!woken);
        resting = false;
        woken = false;
    }

    @Override
    void wake(Thread sleeper) {
        schedule.step(mortal);
        woken = true;
    }

    boolean isForEver() {
        return resting && !woken;
    }

    /** How often it went to sleep. */
    int sleeps() {
        return sleeps;
    }
}
