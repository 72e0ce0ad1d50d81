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
    /** A yield of this length means that another thread has computed meanwhile. */
    private static final long LONG_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    /**
     * After a long yield, there are no yields for this many times its length. This limits their cost to a few per cent.
     */
    private static final int PENALTY = 30;

    private static volatile long again = System.nanoTime();

    private Yielding() {}

    /** Yields, unless a long yield was recent. Returns whether it yielded. */
    static boolean offer(long now) {
        if (now - again < 0) {
            return false;
        }
        Thread.yield();
        long after = System.nanoTime();
        if (after - now > LONG_NANOS) {
            again = after + PENALTY * (after - now);
        }
        return true;
    }
}
