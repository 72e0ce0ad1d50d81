package dev.rackcall.rdma.end;

import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.WorkRequest;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * The requests of a connection on their way into a {@link RequestQueue}, in order and in batches. A request that is not
 * urgent waits for an urgent one.
 *
 * <p>The queue has few places, and a thread that posts holds the lock that all threads need. It therefore does not wait
 * long for room: the request stays here, and another thread {@linkplain #drain pushes} it. Allocates nothing while the
 * peer keeps up. Used under the lock of its {@link MirrorCarrier}, except {@link #isAlive}.
 */
public final class PendingRequests {
    /** Each 64th request is signaled; its completion frees the places of all before it. */
    private static final int SIGNAL_EVERY = 64;

    private static final int FEW = 8;
    /** The maximum number of requests that wait for room. A thread that posts more waits itself. */
    private static final int MAX_WAITING = 4096;
    /** A peer that keeps up makes room within this time. */
    private static final long ROOM_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /**
     * The connection ends after this time without progress, or after posting threads have waited this long in total.
     */
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
    /** The requests up to this one are to be posted now. */
    private long due;
    /** Whether requests have found no room, and nothing has been posted since. */
    private boolean clogged;
    /** Nanoseconds for which threads have waited with the lock since the buffer was last empty. */
    private long waited;
    /** When the last request was posted; only while {@link #clogged}. */
    private long moved;

    private volatile boolean closed;
    private volatile boolean hurried;

    /** @param batch how many requests are posted together unless one is urgent; a divisor of 8 */
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

    /** Whether the connection can still send. Any thread, also without the lock. */
    public boolean isAlive() {
        return !closed && !ending.hasEnded();
    }

    /** Posts nothing from now on. */
    public void close() {
        closed = true;
    }

    /** From now on, {@link #letArrive} waits for nothing. Any thread, also without the lock. */
    void waitNoMore() {
        hurried = true;
    }

    /** The request to {@link #add} next. */
    public WorkRequest next() {
        return waiting[count];
    }

    /** Whether few more requests can wait for room. */
    boolean isCrowded() {
        return count > MAX_WAITING - 2 * FEW;
    }

    /** How many requests were added. */
    public long added() {
        return added;
    }

    /** The number of the last signaled request, counted from 1; {@link #completed} will reach it. */
    public long signaled() {
        return signaled;
    }

    /** The last request that is known to be done; all before it are done, too. */
    public long completed() {
        return completed;
    }

    /** Whether requests that are due have found no room. */
    public boolean isHeldUp() {
        return added - count < due;
    }

    /**
     * Adds the request that {@link #next} has returned.
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
     * Posts all requests that were added, now or as soon as there is room.
     *
     * @return false if the peer is gone
     */
    public boolean flush() {
        due = added;
        push();
        return isAlive();
    }

    /** Posts requests until at most {@code most} are left, or until the time is up. */
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
        ending.end("it has accepted nothing for " + TimeUnit.NANOSECONDS.toMillis(STALL_NANOS) + " ms");
    }

    /** Posts as many requests as there is room for. */
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

    /** Removes the posted requests and moves the rest to the front. */
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

    /** Takes completions. A failed request ends the connection. */
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

    /** Posts waiting requests. A thread calls it repeatedly while requests are {@linkplain #isHeldUp held up}. */
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

    /** Posts all requests, the last of which is signaled, and waits this long for them to complete. */
    public void letArrive(long nanos) {
        long end = System.nanoTime() + nanos;
        while (completed < added && !hurried && isAlive() && System.nanoTime() - end < 0) {
            push();
            reap();
            Thread.onSpinWait();
        }
    }
}
