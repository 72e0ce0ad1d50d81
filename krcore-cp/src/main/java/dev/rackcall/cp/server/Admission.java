package dev.rackcall.cp.server;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Whom an agent process lets in: so many tenants, and beside them a few newcomers, who have not said hello yet or wait for a place. All that a tenant had is closed before his place is free
 * again, a moment after his process has ended; so who finds all places taken waits a while before he is refused. Any thread may use it.
 */
final class Admission {
    private static final int MAX_TENANTS = 256;
    /** Each has a thread; more wait in the socket's backlog. */
    private static final int MAX_NEWCOMERS = 64;
    /** A newcomer waits for the agent's answer for longer than this, also behind others in the backlog: its handshake. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final int most;
    private final Duration patience;
    private final Semaphore newcomers = new Semaphore(MAX_NEWCOMERS);
    /** Fair: who came first is let in first. */
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

    /** Whether there may be one more newcomer, who then has to be {@link #heard}; waits for that no longer than this. */
    boolean mayCome(long nanos) {
        try {
            return newcomers.tryAcquire(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** One who came is a newcomer no more, whatever became of him. */
    void heard() {
        newcomers.release();
    }

    /** Takes a place, for which it waits if need be; returns false if none got free in time, or the agent ends. */
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
            // So that the next one who waits hears it, too.
            places.release();
        }
        return !closed;
    }

    /** A place is free again. */
    void giveBack() {
        places.release();
    }

    /** Newcomers who wait for a place. */
    int waiting() {
        return places.getQueueLength();
    }

    /** Whether the agent ends. */
    boolean isClosed() {
        return closed;
    }

    /** What to say to whom {@link #takePlace} had no place for. */
    String refusal() {
        return "it has " + most + " tenants, as many as it may, and none has left within " + patience.toMillis()
                + " ms; end some processes that use it, or run another agent in a folder of its own (RACKCALL_DIR)";
    }

    /** Nobody gets a place any more, nor waits for one. */
    void close() {
        closed = true;
        places.release();
    }
}
