package dev.rackcall.lock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/** The forms of waiting for a lock. */
abstract class TimedLock implements Lock {
    private final LockWait waiting;

    TimedLock(LockWait waiting) {
        this.waiting = waiting;
    }

    final LockWait waiting() {
        return waiting;
    }

    /** Rejects misuse. */
    abstract void prepare();

    /** Returns whether the lock was taken. False if the wait ended, or if {@code ifFree} and the lock was not free. */
    abstract boolean acquire(boolean ifFree);

    /**
     * Waits without limit; an interrupt is kept for later.
     *
     * @throws IllegalStateException if the wait ends without the lock, which a mistake in the protocol could cause
     */
    @Override
    public void lock() {
        prepare();
        waiting.forEver();
        if (!take(false)) {
            throw endedWithoutLimit();
        }
    }

    /** Guards against a mistake in the protocol, which would let the thread continue without the lock. */
    final IllegalStateException endedWithoutLimit() {
        return new IllegalStateException(this
                + " was awaited without a limit, and the wait has ended without it: it is not held, and may be tried again. Please"
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

    /** Takes it if no thread holds it or waits for it. */
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
