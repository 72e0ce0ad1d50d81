package dev.rackcall.rpc.shm.server;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * The number of a server's connections. A client that has left is not connected any more, but its memory is held until
 * its last handler returns. Held memory is limited, too, against clients that connect, call and leave in a loop.
 * Thread-safe.
 */
public final class ConnectionCount {
    private final AtomicInteger connected = new AtomicInteger();
    private final AtomicInteger held = new AtomicInteger();
    /** Of all connections; an adder, since their threads change it with each call. */
    private final LongAdder calls = new LongAdder();

    /** Clients at the other end of an open socket. */
    int connected() {
        return connected.get();
    }

    /** Whether another connection exceeds the limit: of clients, or of held memory, at twice as many connections. */
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

    /** Its socket is closed. */
    public void hangsUp() {
        connected.decrementAndGet();
    }

    /** Its memory is released. */
    public void isReleased() {
        held.decrementAndGet();
    }
}
