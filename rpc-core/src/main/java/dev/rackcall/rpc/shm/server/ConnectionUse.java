package dev.rackcall.rpc.shm.server;

import java.util.concurrent.atomic.AtomicInteger;

/** Who uses a connection of a server: threads in its memory, which keep it mapped, and calls that have not been answered, which keep it from being idle. Thread-safe. */
final class ConnectionUse {
    private static final int CLOSED = Integer.MIN_VALUE;

    private final Runnable onUnused;
    private final ConnectionCount count;
    /** Calls that have begun and not ended, but for those that the poller runs itself. */
    private final AtomicInteger underWay = new AtomicInteger();
    /** Sign bit: closed. The rest: who may touch the memory: the poller until it closes, and threads between entering and leaving. */
    private final AtomicInteger users = new AtomicInteger(1);

    /**
     * @param onUnused run once, after {@link #close}, when nobody uses the memory any more
     * @param count of the server, for its calls
     */
    ConnectionUse(Runnable onUnused, ConnectionCount count) {
        this.onUnused = onUnused;
        this.count = count;
    }

    /** A handler begins, or goes on, on another thread than the poller's, which keeps the memory mapped. By who keeps it mapped meanwhile. */
    void callStarts() {
        begins();
        users.incrementAndGet();
    }

    /** Ends what {@link #callStarts} began. */
    void callEnds() {
        ends();
        leave();
    }

    /** A handler has left its answer to somebody else, who may take as long as he likes: that does not keep the memory mapped. */
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

    /** Lets nobody enter any more; false if that was so. Whoever closes {@linkplain #leave leaves} when he has done the rest. */
    boolean close() {
        return users.getAndUpdate(seen -> seen | CLOSED) >= 0;
    }
}
