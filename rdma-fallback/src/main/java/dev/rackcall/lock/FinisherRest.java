package dev.rackcall.lock;

import java.util.concurrent.locks.LockSupport;

/**
 * When the finisher's thread rests, and what it and the sessions' threads tell each other about that. Each change of a word here pairs with a look at the other one's: a session opens an
 * unlock and then looks whether the thread sleeps or has ended, the thread says that it goes to sleep, or is told to end, and then looks whether something is open.
 */
class FinisherRest {
    /** Each look costs a thread that works the processor for a moment; a bell that nobody rings is looked after as late. */
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

    /** Until it is time for the next look. */
    void untilNextLook() {
        LockSupport.parkNanos(this, LOOK_NANOS);
        forgetInterrupt();
    }

    /** Until {@link #wake}, which may have come before. */
    void untilWoken() {
        LockSupport.park(this);
        forgetInterrupt();
    }

    void wake(Thread sleeper) {
        LockSupport.unpark(sleeper);
    }

    /** Nobody has a reason to interrupt the thread, and it could not rest any more. */
    private static void forgetInterrupt() {
        Thread.interrupted();
    }
}
