package dev.rackcall.rpc.shm.server;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * How many connections a server has. A client that is gone is not connected any more, but what it had is held until its last handler has
 * returned: that is limited, too, or a client could come, call, and go without end. Thread-safe.
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

    /** Whether another one would be too many: clients, or, with as much again for those who are gone, memory. */
    boolean isFull(int most) {
        return connected.get() >= most || held.get() / 2 >= most;
    }

    /** Calls that have begun and not ended, but for those that pollers run themselves. */
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

    /** Its memory is gone. */
    public void isReleased() {
        held.decrementAndGet();
    }
}
