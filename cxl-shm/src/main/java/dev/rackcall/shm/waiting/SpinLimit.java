package dev.rackcall.shm.waiting;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many threads of this process may spin at a time. More spinning threads than processors only keep each other, and
 * the peers that they wait for, from running. Counts threads that spin for longer than a moment; it publishes nothing.
 */
public final class SpinLimit {
    private static final AtomicInteger SPINNING = new AtomicInteger();

    private SpinLimit() {}

    /** Counts the calling thread, which calls {@link #leave} afterwards; false if {@code most} threads spin already. */
    public static boolean enter(int most) {
        if (SPINNING.getAndIncrement() >= most) {
            SPINNING.getAndDecrement();
            WaitCounts.add(WaitCounts.Kind.LIMITED);
            return false;
        }
        return true;
    }

    /** The calling thread, which entered, spins no longer. */
    public static void leave() {
        SPINNING.getAndDecrement();
    }
}
