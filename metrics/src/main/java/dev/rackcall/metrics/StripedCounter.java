package dev.rackcall.metrics;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A sum to which many threads add. As {@link java.util.concurrent.atomic.LongAdder}, but {@code add} returns
 * the previous value of the thread's stripe, and the number of stripes is fixed, so an addition is one atomic
 * instruction. Thread-safe.
 */
final class StripedCounter {
    /** Stripes lie on two cache lines each, because processors fetch the neighbour of a line, too. */
    private static final int LINES = 128 / Long.BYTES;

    /** A counter takes 2 KiB at most. */
    private static final int STRIPES =
            Math.min(4 * Integer.highestOneBit(Runtime.getRuntime().availableProcessors()), 16);

    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] cells = new long[LINES * (STRIPES + 1)];

    /** Adds to the thread's stripe, and returns the stripe's value before. */
    long add(long value) {
        int stripe = (int) Thread.currentThread().threadId() & (STRIPES - 1);
        // Atomic for threads of the same stripe. Volatile: pairs with the reads in sum(). A sum that sees an addition
        // lets later sums of other counters see what the thread had added there before.
        return (long) CELL.getAndAdd(cells, LINES * (stripe + 1), value);
    }

    long sum() {
        long sum = 0;
        for (int stripe = 0; stripe < STRIPES; stripe++) {
            sum += (long) CELL.getVolatile(cells, LINES * (stripe + 1));
        }
        return sum;
    }
}
