package dev.rackcall.lock;

import java.util.concurrent.locks.LockSupport;

/** How one thread waits, and when it gives up. Confined to that thread. */
class LockWait {
    private static final int SPINS = 200;
    private static final int YIELDS = 400;
    private static final long SLEEP_NANOS = 50_000;
    private static final long FIRST_LOOK_NANOS = 50_000;
    private static final long LOOK_NANOS = 2_000_000;

    private final int spins;
    private boolean bounded;
    private long deadline;
    private boolean interruptible;
    private boolean wasInterrupted;
    private int rounds;
    private long lookAt;
    private long lookEvery;

    /** @param looks whether each check takes so long that no spinning is needed in between */
    LockWait(boolean looks) {
        spins = looks ? 0 : SPINS;
    }

    /** Waits without a limit; an interrupt is kept for later. */
    final void forEver() {
        bounded = false;
        interruptible = false;
    }

    /** Waits until interrupted. */
    final void interruptibly() {
        bounded = false;
        interruptible = true;
    }

    /** Waits this long, or until interrupted. */
    final void atMost(long nanos, boolean untilInterrupted) {
        bounded = true;
        // A time far in the past must not overflow.
        deadline = System.nanoTime() + Math.max(0, nanos);
        interruptible = untilInterrupted;
    }

    /** Begins a wait. */
    final void start() {
        rounds = 0;
        lookEvery = FIRST_LOOK_NANOS;
        lookAt = System.nanoTime() + lookEvery;
    }

    /**
     * Whether an expensive check is due in addition to the cheap one: first after 50 us, then less and less often, at
     * last every 2 ms.
     */
    boolean isTimeToLook() {
        long now = System.nanoTime();
        if (now - lookAt < 0) {
            return false;
        }
        lookEvery = Math.min(2 * lookEvery, LOOK_NANOS);
        lookAt = now + lookEvery;
        return true;
    }

    /** Whether this wait can end without success. */
    final boolean isEndable() {
        return bounded || interruptible;
    }

    /** Lets some time pass; false if the wait is over. */
    boolean pause() {
        if (!interruptible) {
            keepInterrupt();
        }
        rest();
        return !(isLate() || isInterrupted());
    }

    private void keepInterrupt() {
        if (Thread.interrupted()) {
            // Otherwise every sleep would end at once.
            wasInterrupted = true;
        }
    }

    private void rest() {
        rounds++;
        if (rounds <= spins) {
            Thread.onSpinWait();
        } else if (rounds <= YIELDS) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(SLEEP_NANOS);
        }
    }

    /**
     * As {@link #pause}, for a step that another thread is about to take: false after this many nanoseconds since
     * {@code start}, interrupted or not. {@link #end} must follow.
     */
    boolean pauseBriefly(long start, long nanos) {
        keepInterrupt();
        rest();
        return System.nanoTime() - start < nanos;
    }

    /** An acquisition or a release is over: restores an interrupt that came in the meantime. */
    final void end() {
        if (wasInterrupted) {
            wasInterrupted = false;
            Thread.currentThread().interrupt();
        }
    }

    private boolean isLate() {
        return bounded && System.nanoTime() - deadline >= 0;
    }

    private boolean isInterrupted() {
        return interruptible && (wasInterrupted || Thread.currentThread().isInterrupted());
    }
}
