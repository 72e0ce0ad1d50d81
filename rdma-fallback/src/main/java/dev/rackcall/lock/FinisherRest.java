package dev.rackcall.lock;

import java.util.concurrent.locks.LockSupport;

/**
 * When the finisher's thread rests, and how it and the sessions' threads coordinate. Each side changes its word and
 * then checks the other's. A session opens an unlock, and then checks whether the thread sleeps or has ended. The
 * thread records that it goes to sleep or has to end, and then checks whether an unlock is open.
 */
class FinisherRest {
    /**
     * Each check takes the processor from a working thread for a moment. Waiters whose bell was not rung check at the
     * same interval.
     */
    private static final long LOOK_NANOS = 2_000_000;

    private volatile boolean asleep;
    private volatile boolean closed;

    boolean isAsleep() {
        return asleep;
    }

    void setAsleep(boolean now) {
        asleep = now;
    }

    boolean isClosed() {
        return closed;
    }

    void close() {
        closed = true;
    }

    /** Waits until it is time for the next look. */
    void untilNextLook() {
        LockSupport.parkNanos(this, LOOK_NANOS);
        forgetInterrupt();
    }

    /** Waits until {@link #wake}, which may already have been called. */
    void untilWoken() {
        LockSupport.park(this);
        forgetInterrupt();
    }

    void wake(Thread sleeper) {
        LockSupport.unpark(sleeper);
    }

    /** Clears an interrupt, which has no meaning for this thread and would keep it from resting. */
    private static void forgetInterrupt() {
        Thread.interrupted();
    }
}
