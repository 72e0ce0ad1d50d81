package dev.rackcall.grpc;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the bytes of a connection's messages that its applications have not consumed. The window of each stream bounds
 * that stream alone, and a client has many. Thread-safe.
 */
final class InboundBudget {
    static final long MOST_BYTES = 64L << 20;

    private final AtomicLong held = new AtomicLong();

    /** Counts bytes that have arrived; returns whether they are within the budget. */
    boolean take(int bytes) {
        return held.addAndGet(bytes) <= MOST_BYTES;
    }

    /** Some that were {@link #take taken} are consumed, or were dropped. */
    void release(long bytes) {
        if (bytes != 0) {
            held.addAndGet(-bytes);
        }
    }
}
