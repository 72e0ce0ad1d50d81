package dev.rackcall.rpc.shm.server;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * The number of a server's connections. A client that has left is no longer connected, but its memory is held until its
 * last handler returns. Held memory is limited, too, in case clients connect, call and leave in a loop. Thread-safe.
 */
public final class ConnectionCount {
    private final AtomicInteger connected = new AtomicInteger();
    private final AtomicInteger held = new AtomicInteger();
    /** Calls of all connections. A LongAdder, because many threads update it with each call. */
    private final LongAdder calls = new LongAdder();

    /** Clients whose socket is open. */
    int connected() {
        return connected.get();
    }

    /**
     * Whether one more connection would exceed a limit: {@code most} connected clients, or twice as many connections
     * whose memory is held.
     */
    boolean isFull(int most) {
        return connected.get() >= most || held.get() / 2 >= most;
    }

    /** Calls in flight, except for those that pollers run themselves. */
    int callsUnderWay() {
        return Math.clamp(calls.sum(), 0, Integer.MAX_VALUE);
    }

    void callBegins() {
        calls.increment();
    }

    void callEnds() {
        calls.decrement();
    }

    public void comes() {
        connected.incrementAndGet();
        held.incrementAndGet();
    }

    /** A connection's socket is closed. */
    public void hangsUp() {
        connected.decrementAndGet();
    }

    /** A connection's memory is released. */
    public void isReleased() {
        held.decrementAndGet();
    }
}
