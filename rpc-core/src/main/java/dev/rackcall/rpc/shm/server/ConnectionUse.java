package dev.rackcall.rpc.shm.server;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The users of a server's connection: threads in its memory, which keep it mapped, and unanswered calls, which keep it
 * from being idle. Thread-safe.
 */
final class ConnectionUse {
    private static final int CLOSED = Integer.MIN_VALUE;

    private final Runnable onUnused;
    private final ConnectionCount count;
    /** Calls in flight, except for those that the poller runs itself. */
    private final AtomicInteger underWay = new AtomicInteger();
    /**
     * Sign bit: closed. The rest: users of the memory, namely the poller until it closes, and threads between entering
     * and leaving.
     */
    private final AtomicInteger users = new AtomicInteger(1);

    /**
     * @param onUnused run once after {@link #close}, when no thread uses the memory any more
     * @param count the server's count, to which this connection's calls are added
     */
    ConnectionUse(Runnable onUnused, ConnectionCount count) {
        this.onUnused = onUnused;
        this.count = count;
    }

    /**
     * A handler runs on a thread other than the poller's, and keeps the memory mapped. Until this returns, the calling
     * thread keeps it mapped.
     */
    void callStarts() {
        begins();
        users.incrementAndGet();
    }

    /** Ends what {@link #callStarts} began. */
    void callEnds() {
        ends();
        leave();
    }

    /**
     * A handler has left its answer to another thread. That may take any time, so it does not keep the memory mapped.
     */
    void answerDeferred() {
        begins();
    }

    /** Ends what {@link #answerDeferred} began. */
    void deferredEnds() {
        ends();
    }

    private void begins() {
        underWay.incrementAndGet();
        count.callBegins();
    }

    private void ends() {
        underWay.decrementAndGet();
        count.callEnds();
    }

    boolean hasCallsUnderWay() {
        return underWay.get() != 0;
    }

    /** Keeps the memory mapped until {@link #leave}; false if the connection is closed. */
    boolean enter() {
        while (true) {
            int seen = users.get();
            if (seen < 0) {
                return false;
            }
            if (users.compareAndSet(seen, seen + 1)) {
                return true;
            }
        }
    }

    /** Ends what {@link #enter} began. */
    void leave() {
        if (users.decrementAndGet() == CLOSED) {
            onUnused.run();
        }
    }

    boolean isClosed() {
        return users.get() < 0;
    }

    /**
     * Lets no thread enter any more; returns false if the connection was already closed. The closing thread calls
     * {@link #leave} when it has done the rest.
     */
    boolean close() {
        return users.getAndUpdate(seen -> seen | CLOSED) >= 0;
    }
}
