package dev.rackcall.cp.lane;

import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.Completions;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The completion queue that lanes share. One poll serves all of them. A thread that holds its lock may take a lane's
 * monitor, never the other way round.
 */
final class LaneCompletions {
    private final CompletionQueue queue;
    private final Completions batch = Completions.create(32);
    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock. */
    private boolean closed;
    /** Replaced, never changed. */
    private volatile Lane[] lanes = {};

    LaneCompletions(CompletionQueue queue) {
        this.queue = queue;
    }

    CompletionQueue queue() {
        return queue;
    }

    /** Adds a lane, before the lane posts requests. */
    synchronized void add(Lane lane) {
        Lane[] all = Arrays.copyOf(lanes, lanes.length + 1);
        all[all.length - 1] = lane;
        lanes = all;
    }

    /** Passes completions to their lanes, unless another thread is doing so. */
    void poll() {
        if (lock.tryLock()) {
            try {
                if (closed) {
                    return;
                }
                for (int count = queue.poll(batch); count > 0; count = queue.poll(batch)) {
                    for (int i = 0; i < count; i++) {
                        take(i);
                    }
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /** Called before a thread that polls sleeps; see {@link CompletionQueue#rest}. */
    void rest() {
        queue.rest();
    }

    /** Stops polling, before the completion queue is closed. */
    void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
    }

    private void take(int index) {
        int number = batch.queuePair(index);
        for (Lane lane : lanes) {
            if (lane.queuePairNumber() == number) {
                lane.completed(batch.id(index), batch.status(index));
                return;
            }
        }
    }
}
