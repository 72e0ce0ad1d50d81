package dev.rackcall.rdma;

import dev.rackcall.rdma.end.Ending;
import dev.rackcall.rpc.spi.Carrier.Arrivals;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.VerbsException;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The receiving half of a carrier. Two kinds of threads take what has arrived: those that {@link #look}, and the device's, which is announced to. It is announced to
 * only of what is urgent, unless somebody {@link #listen listens}: so as long as those who wait also look, no thread is woken.
 *
 * <p>Allocates nothing.
 */
final class PairReceiver {
    private final PairEnd end;
    private final Ending ending;
    private final ReentrantLock lock = new ReentrantLock();
    private final Completions arrived = Completions.create(64);
    private final Completions none = Completions.create(1);
    private final ReceiveRequest receive = ReceiveRequest.create(1);
    /** Null until somebody wants to know. */
    private Arrivals arrivals;

    /** Of the device, when this was last looked at. */
    private long movesSeen;

    private boolean endTold;
    private boolean closed;

    /** The receive requests are posted; the queue pair need not be connected yet. */
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

    /** The device has announced something, or has not for long. Whoever sleeps looks at the memory then, whoever took the completions. The device's thread. */
    void announced() {
        lock.lock();
        try {
            if (closed || arrivals == null) {
                return;
            }
            // First, so that what comes behind the last look is announced.
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

    /** Takes what has arrived, if nobody else does. By a thread that spins. */
    void look() {
        if (lock.tryLock()) {
            try {
                if (closed || arrivals == null) {
                    return;
                }
                // The memory shows what came of it. Of many connections that a thread looks at in turn the first moves
                // the
                // traffic of all.
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

    /** From now on the next publication is announced. By a thread before its last look at the memory, after which it sleeps. */
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
     * Takes what is there. No more than was posted for at its begin, or a peer that sends for ever would keep this thread: what comes later than that is announced, or looked for
     * again.
     */
    private void takeAll() {
        int taken = 0;
        while (taken < end.depth()) {
            int count = end.receives.poll(arrived);
            for (int i = 0; i < count; i++) {
                take(i);
            }
            if (count < arrived.capacity()) {
                // There were no more: a poll that finds nothing costs as much as one that does, just when somebody
                // waits.
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
            throw new IllegalStateException("the receive queue is full, though nobody else fills it");
        }
    }

    /** Says once that the peer is gone, if it is. */
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

    /** Says nothing any more, and runs {@code last} when no other thread uses the queues. */
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
