package dev.rackcall.cp.server;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Bounds the sessions of an agent process: tenants, and newcomers that have not said hello or wait for a place. A
 * tenant's place becomes free when all that it had is closed, a moment after its process has ended. So newcomers wait a
 * while before they are refused. Any thread may use it.
 */
final class Admission {
    private static final int MAX_TENANTS = 256;
    /** Each newcomer has a thread; further ones wait in the socket's backlog. */
    private static final int MAX_NEWCOMERS = 64;
    /** How long a newcomer waits. Its handshake allows more time, even after a wait in the backlog. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final int most;
    private final Duration patience;
    private final Semaphore newcomers = new Semaphore(MAX_NEWCOMERS);
    /** Fair: the first newcomer gets the first place. */
    private final Semaphore places;

    private volatile boolean closed;

    /**
     * @param most tenants at a time
     * @param patience how long a newcomer waits for a place
     */
    Admission(int most, Duration patience) {
        this.most = most;
        this.patience = patience;
        places = new Semaphore(most, true);
    }

    /** 256 tenants, 2 s. */
    static Admission usual() {
        return new Admission(MAX_TENANTS, PATIENCE);
    }

    /** Waits, at most this long, until one more newcomer is allowed; {@link #heard} must follow if it is. */
    boolean mayCome(long nanos) {
        try {
            return newcomers.tryAcquire(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Called when a newcomer was admitted, refused or lost. */
    void heard() {
        newcomers.release();
    }

    /** Takes a place, for which it may wait; returns false if none became free in time or the agent ends. */
    boolean takePlace() {
        try {
            if (!places.tryAcquire(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                return false;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        if (closed) {
            // Wakes the next newcomer, which ends in the same way.
            places.release();
        }
        return !closed;
    }

    /** A place is free again. */
    void giveBack() {
        places.release();
    }

    /** Newcomers that wait for a place. */
    int waiting() {
        return places.getQueueLength();
    }

    /** Whether the agent ends. */
    boolean isClosed() {
        return closed;
    }

    /** The refusal when {@link #takePlace} has found no place. */
    String refusal() {
        return "it has " + most + " tenants, as many as it may, and none has left within " + patience.toMillis()
                + " ms; end some processes that use it, or run another agent in a folder of its own (RACKCALL_DIR)";
    }

    /** Ends all waiting; nothing is admitted any more. */
    void close() {
        closed = true;
        places.release();
    }
}
