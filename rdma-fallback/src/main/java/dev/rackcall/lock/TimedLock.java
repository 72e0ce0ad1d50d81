package dev.rackcall.lock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/** The ways to wait for a lock. */
abstract class TimedLock implements Lock {
    private final LockWait waiting;

    TimedLock(LockWait waiting) {
        this.waiting = waiting;
    }

    final LockWait waiting() {
        return waiting;
    }

    /** Refuses what cannot be meant. */
    abstract void prepare();

    /** Returns whether it was taken; false if the wait had to end, or, if it should be taken only {@code ifFree}, if it was not. */
    abstract boolean acquire(boolean ifFree);

    /**
     * Waits as long as it takes; an interrupt is kept for later.
     *
     * @throws IllegalStateException if the wait has ended all the same: never is this left without the lock
     */
    @Override
    public void lock() {
        prepare();
        waiting.forEver();
        if (!take(false)) {
            throw endedWithoutLimit();
        }
    }

    /** What cannot be; a mistake in the protocol would otherwise let its thread in without the lock. */
    final IllegalStateException endedWithoutLimit() {
        return new IllegalStateException(this
                + " was waited for without a limit, and the wait has ended without it: it is not held, and may be tried again. Please"
                + " report this with the sequence of calls; nothing but a mistake in Rackcall ends such a wait");
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        prepare();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        waiting.interruptibly();
        if (!take(false)) {
            Thread.interrupted();
            throw new InterruptedException();
        }
    }

    /** Takes it if nobody holds it or waits for it. */
    @Override
    public boolean tryLock() {
        prepare();
        waiting.atMost(0, false);
        return take(true);
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        prepare();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        waiting.atMost(unit.toNanos(time), true);
        if (take(false)) {
            return true;
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return false;
    }

    private boolean take(boolean ifFree) {
        try {
            return acquire(ifFree);
        } finally {
            waiting.end();
        }
    }

    /** @throws UnsupportedOperationException always: there are no conditions */
    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("an ALock has no conditions");
    }
}
