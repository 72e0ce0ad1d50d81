package dev.rackcall.rdma.queue;

import dev.rackcall.rpc.spi.Carrier.Arrivals;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Relays what arrives at a carrier to its listener, one arrival at a time. Keeps told numbers until the listener
 * starts. Thread-safe.
 */
final class QueueArrivals {
    /** More numbers than a peer can have to tell before its first answer. */
    private static final int MAX_EARLY = 4096;

    private final Deque<Long> early = new ArrayDeque<>();
    /** Null until the carrier is started. */
    private Arrivals arrivals;

    private boolean endTold;
    private boolean closed;

    synchronized void start(Arrivals listener) {
        arrivals = listener;
        early.forEach(listener::told);
        early.clear();
        published();
    }

    synchronized void published() {
        if (arrivals != null && !closed) {
            arrivals.published();
        }
    }

    /**
     * Returns false if the number finds no room. The caller then ends the connection, since a lost number would leak
     * what it releases.
     */
    synchronized boolean told(long number) {
        if (closed) {
            return true;
        }
        if (arrivals != null) {
            arrivals.told(number);
            return true;
        }
        return early.size() < MAX_EARLY && early.add(number);
    }

    /** Reports the end once. */
    synchronized void ended() {
        if (arrivals != null && !closed && !endTold) {
            endTold = true;
            arrivals.ended();
        }
    }

    /** Reports nothing from now on. */
    synchronized void close() {
        closed = true;
    }
}
