package dev.rackcall.shm.waiting;

import java.util.concurrent.TimeUnit;

/**
 * Yields the processor to other threads, as long as yields are short. If a caller and a server share a processor, a
 * yield is the cheapest switch between them. If another thread computes there, a yield costs a time slice of some
 * milliseconds, and a sleeping thread would get the processor back sooner.
 *
 * <p>One state for the process, updated without synchronisation: a lost update costs one yield too many or too few.
 */
final class Yielding {
    /** A yield of this length means that another thread has used the processor. */
    private static final long LONG_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    /**
     * After a long yield, there are no yields for this many times its length. This limits their cost to five per cent.
     */
    private static final int PENALTY = 20;

    /** A shorter yield came straight back: no other thread wanted the processor. */
    private static final long SWITCH_NANOS = 1_000;

    /** Did not yield. */
    static final long NOT = -1;

    private static volatile long again = System.nanoTime();

    private Yielding() {}

    /** Yields, unless a long yield was recent. Returns how long other threads ran, or {@link #NOT}. */
    static long offer(long now) {
        if (!pays(now)) {
            return NOT;
        }
        long away = giveWay(now);
        if (away > LONG_NANOS) {
            again = now + (1 + PENALTY) * away;
        }
        return away;
    }

    /** Yields; returns how long other threads ran. */
    static long giveWay(long now) {
        Thread.yield();
        long away = System.nanoTime() - now;
        return away > SWITCH_NANOS ? away : 0;
    }

    /** Whether yields have been short lately. */
    static boolean pays(long now) {
        return now - again >= 0;
    }
}
