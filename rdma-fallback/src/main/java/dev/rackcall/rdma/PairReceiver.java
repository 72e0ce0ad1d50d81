package dev.rackcall.rdma;

import dev.rackcall.rdma.end.Ending;
import dev.rackcall.rpc.spi.Carrier.Arrivals;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.VerbsException;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Takes what arrives at a carrier: spinning threads call {@link #look}, and the device notifies its own thread. Unless
 * a thread {@linkplain #listen listens}, the device notifies only of urgent arrivals: while all waiting threads spin,
 * none is woken. Allocates nothing.
 */
final class PairReceiver {
    private final PairEnd end;
    private final Ending ending;
    private final ReentrantLock lock = new ReentrantLock();
    private final Completions arrived = Completions.create(64);
    private final Completions none = Completions.create(1);
    private final ReceiveRequest receive = ReceiveRequest.create(1);
    /** Null until the carrier is started. */
    private Arrivals arrivals;

    /** {@link RdmaDevice#moves()} at the last look. */
    private long movesSeen;

    private boolean endTold;
    private boolean closed;

    /** Posts the receive requests; the queue pair need not be connected yet. */
    PairReceiver(PairEnd end, Ending ending) {
        this.end = end;
        this.ending = ending;
        for (int i = 0; i < end.depth(); i++) {
            postReceive(i);
        }
    }

    void start(Arrivals listener) {
        lock.lock();
        try {
            arrivals = listener;
        } finally {
            lock.unlock();
        }
        announced();
    }

    /**
     * Called when the device has notified, and once a second in any case. Lets sleepers check the memory, whichever
     * thread took the completions. Runs on the device's thread.
     */
    void announced() {
        lock.lock();
        try {
            if (closed || arrivals == null) {
                return;
            }
            // Before the polls, so that an arrival after the last poll causes a notification.
            end.receives.requestNotification(true);
            takeAll();
            arrivals.published();
        } catch (VerbsException e) {
            ending.end("receiving failed: " + e.getMessage());
        } finally {
            lock.unlock();
        }
        tellEnd();
    }

    /** Takes what has arrived, unless another thread does. Called by a thread that spins. */
    void look() {
        if (lock.tryLock()) {
            try {
                if (closed || arrivals == null) {
                    return;
                }
                // The memory shows the result. If a thread polls many connections in turn, the first moves the traffic
                // of all.
                if (end.device.moves() == movesSeen) {
                    end.device.moves(end.looks, none);
                }
                movesSeen = end.device.moves();
                takeAll();
            } catch (VerbsException e) {
                ending.end("receiving failed: " + e.getMessage());
            } finally {
                lock.unlock();
            }
        }
        if (ending.hasEnded()) {
            tellEnd();
        }
    }

    /**
     * Notifies of the next publication. Called by a thread before its last look at the memory, after which it sleeps.
     */
    void listen() {
        lock.lock();
        try {
            if (!closed) {
                end.receives.requestNotification(false);
            }
        } catch (VerbsException e) {
            ending.end("listening failed: " + e.getMessage());
        } finally {
            lock.unlock();
        }
        if (ending.hasEnded()) {
            tellEnd();
        }
    }

    /**
     * Takes what has arrived, at most one arrival for each request that was posted at the start: a peer that sends
     * endlessly must not occupy this thread. The rest causes a notification, or the next look finds it.
     */
    private void takeAll() {
        int taken = 0;
        while (taken < end.depth()) {
            int count = end.receives.poll(arrived);
            for (int i = 0; i < count; i++) {
                take(i);
            }
            if (count < arrived.capacity()) {
                // No more have arrived. Another poll would find nothing and cost as much, while a caller waits.
                return;
            }
            taken += count;
        }
    }

    private void take(int i) {
        if (!arrived.isSuccess(i)) {
            ending.end("receiving ended with " + arrived.status(i));
            return;
        }
        long id = arrived.id(i);
        if (!arrived.hasImmediate(i)) {
            arrivals.told(end.notices.get(ValueLayout.JAVA_LONG, id * Long.BYTES));
        }
        postReceive(id);
    }

    private void postReceive(long id) {
        if (!end.queuePair.postReceive(receive.start(id).into(end.noticeRegion, id * Long.BYTES, Long.BYTES))) {
            throw new IllegalStateException("the receive queue is full, though no other thread fills it");
        }
    }

    /** Reports the end once, if the connection has ended. */
    void tellEnd() {
        if (!ending.hasEnded()) {
            return;
        }
        lock.lock();
        try {
            if (arrivals != null && !endTold && !closed) {
                endTold = true;
                arrivals.ended();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Reports nothing from now on, and runs {@code last} when no other thread uses the queues. */
    void close(Runnable last) {
        lock.lock();
        try {
            closed = true;
            last.run();
        } finally {
            lock.unlock();
        }
    }
}
