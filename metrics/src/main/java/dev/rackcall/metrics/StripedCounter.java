package dev.rackcall.metrics;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A sum to which many threads add. As {@link java.util.concurrent.atomic.LongAdder}, but {@code add} returns the
 * previous value of the thread's stripe, and the number of stripes is fixed, so an addition is one atomic instruction. Thread-safe.
 */
final class StripedCounter {
    /** Stripes lie on two cache lines each, because processors fetch the neighbour of a line, too. */
    private static final int LINES = 128 / Long.BYTES;

    private static final int STRIPES =
            Math.clamp(4L * Integer.highestOneBit(Runtime.getRuntime().availableProcessors()), 4, 64);
    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] cells = new long[LINES * (STRIPES + 1)];

    /** Adds to the thread's stripe, and returns the stripe's value before. */
    long add(long value) {
        int stripe = (int) Thread.currentThread().threadId() & (STRIPES - 1);
        // Atomic for threads of the same stripe. No other memory is published by it.
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
