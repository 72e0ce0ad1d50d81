package dev.rackcall.rdma.end;

import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.WorkRequest;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Requests on their way into a {@link RequestQueue}, in order, as many at once as make a batch: a request that is not
 * urgent waits for one that is.
 *
 * <p>The queue has room for a few. A thread that posts does not wait long for room, since it holds the lock that all
 * need, whatever the deadlines of their calls. A request that finds no room waits here, and another thread pushes it
 * with {@link #drain}. Allocates nothing while the peer keeps up. Used under the lock of its {@link MirrorCarrier},
 * except {@link #isAlive}.
 */
public final class PendingRequests {
    /** Every so often a request is signaled, which gives the places of all before it back. */
    private static final int SIGNAL_EVERY = 64;

    private static final int FEW = 8;
    /** MemoryRequests that wait for room. Who has more than that to post waits with them. */
    private static final int MAX_WAITING = 4096;
    /** A peer that takes what comes makes room within that time. */
    private static final long ROOM_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** A peer that takes nothing for so long is given up; also one for which others have waited so long. */
    private static final long STALL_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Ending ending;
    private final RequestQueue queue;
    private final int batch;
    private final Completions done = Completions.create(16);
    private WorkRequest[] waiting = {};
    private int count;
    private long added;
    private long signaled;
    private long completed;
    /** Up to which requests were to set out. */
    private long due;
    /** There was no room, and nothing was pushed since. */
    private boolean clogged;
    /** Nanoseconds for which somebody has waited with the lock because as many wait as may, since none did. */
    private long waited;
    /** Since when nothing was pushed; only while it is {@link #clogged}. */
    private long moved;

    private volatile boolean closed;

    /** @param batch how many requests set out at once if none is in haste; a divisor of 8 */
    PendingRequests(Ending ending, RequestQueue queue, int batch) {
        if (batch < 1 || FEW % batch != 0) {
            throw new IllegalArgumentException("a batch of " + batch + " requests does not divide " + FEW);
        }
        this.ending = ending;
        this.queue = queue;
        this.batch = batch;
        resize(FEW);
    }

    private void resize(int places) {
        int had = waiting.length;
        waiting = Arrays.copyOf(waiting, places);
        for (int i = had; i < places; i++) {
            waiting[i] = WorkRequest.create(1, Long.BYTES);
        }
    }

    /** Whether something can be sent still. Any thread, without the lock, too. */
    public boolean isAlive() {
        return !closed && !ending.hasEnded();
    }

    /** Nothing is pushed any more. */
    public void close() {
        closed = true;
    }

    /** The request to {@link #add} next. */
    public WorkRequest next() {
        return waiting[count];
    }

    /** How many requests were added. */
    public long added() {
        return added;
    }

    /** The last of them that is signaled, and thereby will be known to be done; counted from 1. */
    public long signaled() {
        return signaled;
    }

    /** Up to which of them they are known to be done. */
    public long completed() {
        return completed;
    }

    /** Whether some are to be on their way and have found no room. */
    public boolean isHeldUp() {
        return added - count < due;
    }

    /**
     * Takes the request that {@link #next} has given.
     *
     * @return false if the peer is gone
     */
    public boolean add(WorkRequest request) {
        added++;
        request.id(added);
        if (added % SIGNAL_EVERY == 0) {
            request.signaled();
        }
        if ((request.flags() & WorkRequest.SIGNALED) != 0) {
            signaled = added;
        }
        count++;
        if (count % batch == 0) {
            setOut();
        }
        return isAlive();
    }

    private void setOut() {
        due = added;
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
    }

    /**
     * Lets set out what was added: now, or as soon as there is room.
     *
     * @return false if the peer is gone
     */
    public boolean flush() {
        due = added;
        push();
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
                clog(now);
                return;
            }
            Thread.onSpinWait();
        }
    }

    private void clog(long now) {
        moved = clogged ? moved : now;
        clogged = true;
    }

    private void stalled() {
        ending.end("it has taken nothing for " + TimeUnit.NANOSECONDS.toMillis(STALL_NANOS) + " ms");
    }

    /** Pushes as much as there is room for. */
    private void push() {
        boolean hasReaped = false;
        while (count > 0) {
            int taken = queue.post(waiting, count);
            if (taken > 0) {
                shift(taken);
                hasReaped = false;
            } else if (hasReaped) {
                return;
            } else {
                reap();
                hasReaped = true;
                if (!isAlive()) {
                    return;
                }
            }
        }
    }

    /** So many have found room; the rest moves up. */
    private void shift(int taken) {
        for (int i = taken; i < count; i++) {
            WorkRequest free = waiting[i - taken];
            waiting[i - taken] = waiting[i];
            waiting[i] = free;
        }
        count -= taken;
        clogged = false;
        waited = count == 0 ? 0 : waited;
    }

    /** Takes completions; one of a request that failed ends the ending. */
    public void reap() {
        int taken;
        do {
            taken = queue.poll(done);
            for (int i = 0; i < taken; i++) {
                if (done.isSuccess(i)) {
                    completed = done.id(i);
                } else {
                    failed(i);
                }
            }
        } while (taken == done.capacity());
    }

    private void failed(int i) {
        String how = "a request ended with " + done.status(i);
        ending.end(queue.failure().map(why -> how + ": " + why).orElse(how));
    }

    /** Goes on with what waits. By a thread that does so again and again as long as something is {@link #isHeldUp held up}. */
    public void drain(long now) {
        if (count == 0 || !isAlive()) {
            return;
        }
        push();
        if (count == 0) {
            waiting = waiting.length > FEW ? Arrays.copyOf(waiting, FEW) : waiting;
            return;
        }
        clog(now);
        if (now - moved > STALL_NANOS) {
            stalled();
        }
    }

    /** Pushes all that was added, the last of which is signaled, and waits so long for it to arrive. */
    public void letArrive(long nanos) {
        long end = System.nanoTime() + nanos;
        while (completed < added && isAlive() && System.nanoTime() - end < 0) {
            push();
            reap();
            Thread.onSpinWait();
        }
    }
}
