package dev.rackcall.shm.waiting;

import java.util.concurrent.TimeUnit;

/**
 * Offers the processor to other threads, as long as that brings it back soon. Between a caller and a server on one
 * processor a yield is the cheapest way from one to the other. Beside a thread that computes it costs a time slice of
 * some milliseconds, and a sleeping thread would get the processor back sooner.
 *
 * <p>One state for the process, updated without synchronisation: a lost update costs one yield too many or too few.
 */
final class Yielding {
    /** A yield of this length means that a thread has computed meanwhile. */
    private static final long LONG_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    /** After a long yield, no yields for this many times its length, so that they cost a few per cent at most. */
    private static final int PENALTY = 30;

    private static volatile long again = System.nanoTime();

    private Yielding() {}

    /** Yields, if yields are short now; returns whether it did. */
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
