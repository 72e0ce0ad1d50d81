package dev.rackcall.lock;

import dev.rackcall.lock.Schedule.Mortal;
import java.util.Random;

/** Waits that end at random. */
final class ScheduledWaiting extends LockWait {
    private final Schedule schedule;
    private final Mortal mortal;
    private final Random random;

    ScheduledWaiting(Schedule schedule, Mortal mortal) {
        super(true);
        this.schedule = schedule;
        this.mortal = mortal;
        random = schedule.random();
    }

    @Override
    boolean pause() {
        schedule.step(mortal);
        return !isEndable() || random.nextInt(10) != 0;
    }

    @Override
    boolean isTimeToLook() {
        return random.nextInt(8) == 0;
    }

    @Override
    boolean pauseBriefly(long start, long nanos) {
        schedule.step(mortal);
        return random.nextInt(100) != 0;
    }
}
