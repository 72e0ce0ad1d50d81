package dev.rackcall.rdma.queue;

import dev.rackcall.rpc.spi.Carrier.Arrivals;
import java.util.ArrayDeque;
import java.util.Deque;

/** The receiving half of a carrier: says what has come, one thing at a time. What comes before somebody wants to know is kept for him, as far as it makes sense. Any thread may use it. */
final class QueueArrivals {
    /** More than a peer can have to tell of its calls before it has been answered any. */
    private static final int MAX_EARLY = 4096;

    private final Deque<Long> early = new ArrayDeque<>();
    /** Null until somebody wants to know. */
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

    /** Returns false of a number that finds no room: what it was about would be kept as long as the connection lasts, so that is to end. */
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

    /** Says so once. */
    synchronized void ended() {
        if (arrivals != null && !closed && !endTold) {
            endTold = true;
            arrivals.ended();
        }
    }

    /** Says nothing any more. */
    synchronized void close() {
        closed = true;
    }
}
