package dev.rackcall.rdma.queue;

import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.WorkRequest;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Requests on their way into a virtual queue, in order. The queue takes a few; nobody who posts waits long for room there, since that would be with the lock that all need, whatever the
 * deadlines of their calls: what finds none waits here, and the exchange's thread pushes it. Allocates nothing as long as the peer takes what comes. All with the carrier's lock.
 */
final class Outflow {
    private static final int FEW = 8;
    /** Requests that wait for room. Who has more than that to post waits with them. */
    private static final int MAX_WAITING = 4096;
    /** A peer that takes what comes makes room within that time. */
    private static final long ROOM_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** A peer that takes nothing for so long is given up; also one for which others have waited so long. */
    private static final long STALL_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final QueueCarrier carrier;
    private final VirtualQueue queue;
    private final Completions done = Completions.create(16);
    private WorkRequest[] waiting = {};
    private int count;
    private long added;
    private long completed;
    /** There was no room, and nothing was pushed since. */
    private boolean clogged;
    /** Nanoseconds for which somebody has waited with the lock because as many wait as may, since none did. */
    private long waited;
    /** Since when nothing was pushed; only while it is {@link #clogged}. */
    private long moved;

    private boolean closed;

    Outflow(QueueCarrier carrier, VirtualQueue queue) {
        this.carrier = carrier;
        this.queue = queue;
        resize(FEW);
    }

    private void resize(int places) {
        int had = waiting.length;
        waiting = Arrays.copyOf(waiting, places);
        for (int i = had; i < places; i++) {
            waiting[i] = WorkRequest.create(1, Long.BYTES);
        }
    }

    boolean isAlive() {
        return !closed && !carrier.hasEnded();
    }

    /** Nothing is pushed any more. */
    void close() {
        closed = true;
    }

    /** The request to {@link #add} next. */
    WorkRequest next() {
        return waiting[count];
    }

    /** How many requests were added. */
    long added() {
        return added;
    }

    /** Up to which of them, counted from 1, they are known to be done. Only signaled ones are known of. */
    long completed() {
        return completed;
    }

    /** Whether some have not found room yet. */
    boolean areWaiting() {
        return count > 0;
    }

    /**
     * Takes the request that {@link #next} has given.
     *
     * @return false if the peer is gone
     */
    boolean add(WorkRequest request) {
        added++;
        request.id(added);
        count++;
        awaitRoom(0, clogged ? 0 : ROOM_NANOS);
        if (count == MAX_WAITING) {
            long begin = System.nanoTime();
            awaitRoom(MAX_WAITING - FEW, STALL_NANOS - waited);
            waited += System.nanoTime() - begin;
        }
        if (count == MAX_WAITING) {
            stalled();
        } else if (count == waiting.length) {
            resize(2 * waiting.length);
        }
        return isAlive();
    }

    /** Pushes all but so many, unless there is no room for them within that time. */
    private void awaitRoom(int most, long nanos) {
        long begin = 0;
        while (isAlive()) {
            push();
            if (count <= most) {
                return;
            }
            long now = System.nanoTime();
            begin = begin == 0 ? now : begin;
            if (now - begin >= nanos) {
                moved = clogged ? moved : now;
                clogged = true;
                return;
            }
            Thread.onSpinWait();
        }
    }

    private void stalled() {
        carrier.end("it has taken nothing for " + TimeUnit.NANOSECONDS.toMillis(STALL_NANOS) + " ms");
    }

    /** Pushes as much as there is room for. */
    private void push() {
        int pushed = 0;
        while (pushed < count && (queue.push(waiting[pushed]) || (reap() && queue.push(waiting[pushed])))) {
            pushed++;
        }
        if (pushed == 0) {
            return;
        }
        for (int i = pushed; i < count; i++) {
            WorkRequest free = waiting[i - pushed];
            waiting[i - pushed] = waiting[i];
            waiting[i] = free;
        }
        count -= pushed;
        clogged = false;
        waited = count == 0 ? 0 : waited;
    }

    /** Takes completions; returns whether the peer is still there. */
    boolean reap() {
        int taken;
        do {
            taken = queue.pop(done);
            for (int i = 0; i < taken; i++) {
                if (done.isSuccess(i)) {
                    completed = done.id(i);
                } else {
                    carrier.end("a request ended with " + done.status(i) + ": "
                            + queue.failure().orElse("the queue does not say why"));
                }
            }
        } while (taken == done.capacity());
        return isAlive();
    }

    /** By the exchange's thread: goes on with what waits. */
    void drain(long now) {
        if (count == 0 || !isAlive()) {
            return;
        }
        push();
        if (count == 0) {
            waiting = waiting.length > FEW ? Arrays.copyOf(waiting, FEW) : waiting;
        } else if (!clogged) {
            moved = now;
            clogged = true;
        } else if (now - moved > STALL_NANOS) {
            stalled();
        }
    }

    /** Pushes all that was added, the last of which is signaled, and waits so long for it to arrive. */
    void letArrive(long nanos) {
        long end = System.nanoTime() + nanos;
        while (completed < added && isAlive() && System.nanoTime() - end < 0) {
            push();
            reap();
            Thread.onSpinWait();
        }
    }
}
