package dev.rackcall.rdma;

import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.WorkRequest;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Requests on their way into the send queue, in order. What needs no haste waits for what does, and both are posted at once.
 *
 * <p>Nobody who posts waits for a peer that takes nothing, since that would be with the lock that all need, whatever the deadlines of their calls: what finds no room waits here, and a thread
 * of its own posts it. Allocates nothing as long as the peer takes what comes. All but {@link #drain} with the lock.
 */
final class Outgoing {
    /** Every so often a request is signaled, which gives the places of all before it back. */
    private static final int SIGNAL_EVERY = 64;

    private static final int BATCH = 8;
    /** Requests that wait for room. Who has more than that to post waits with them. */
    private static final int MAX_WAITING = 4096;
    /** A peer that takes what comes makes room within that time. */
    private static final long ROOM_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** Between two looks for room. */
    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    /** A peer that takes nothing for so long is given up; also one for which others have waited so long. */
    private static final long STALL_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final RdmaCarrier carrier;
    private final RdmaEnd end;
    private final ReentrantLock lock;
    private final Completions sent = Completions.create(16);
    private WorkRequest[] batch = {};
    private int batched;
    private long added;
    private long completed;
    /** There was no room, and nothing was posted since. */
    private boolean clogged;
    /** Nanoseconds for which somebody has waited with the lock because as many wait as may, since none did. */
    private long waited;

    /** A thread of its own looks for room. */
    private boolean draining;

    private boolean closed;

    Outgoing(RdmaCarrier carrier, RdmaEnd end, ReentrantLock lock) {
        this.carrier = carrier;
        this.end = end;
        this.lock = lock;
        resize(BATCH);
    }

    private void resize(int places) {
        int had = batch.length;
        batch = Arrays.copyOf(batch, places);
        for (int i = had; i < places; i++) {
            batch[i] = WorkRequest.create(1, Long.BYTES);
        }
    }

    boolean isAlive() {
        return !closed && !carrier.hasEnded();
    }

    /** Nothing is posted any more. */
    void close() {
        closed = true;
    }

    /** The request to {@link #add} next. */
    WorkRequest next() {
        return batch[batched];
    }

    /** How many requests were added. */
    long added() {
        return added;
    }

    /** Up to which of them, counted from 1, they are known to be done. */
    long completed() {
        return completed;
    }

    /**
     * Takes the request that {@link #next} has given.
     *
     * @return false if the peer is gone
     */
    boolean add(WorkRequest request) {
        added++;
        request.id(added);
        if (added % SIGNAL_EVERY == 0) {
            request.signaled();
        }
        batched++;
        if (batched % BATCH == 0) {
            awaitRoom(0, clogged ? 0 : ROOM_NANOS);
            if (batched == MAX_WAITING) {
                long begin = System.nanoTime();
                awaitRoom(MAX_WAITING - BATCH, STALL_NANOS - waited);
                waited += System.nanoTime() - begin;
            }
            if (batched == MAX_WAITING) {
                stalled();
            } else if (batched == batch.length) {
                resize(2 * batch.length);
            }
        }
        return isAlive();
    }

    /** Posts all but so many, unless there is no room for them within that time. */
    private void awaitRoom(int most, long nanos) {
        long begin = System.nanoTime();
        while (batched > most && isAlive()) {
            if (!post()) {
                if (System.nanoTime() - begin >= nanos) {
                    clogged = true;
                    return;
                }
                Thread.onSpinWait();
            }
        }
    }

    private void stalled() {
        carrier.end("it has taken nothing for " + TimeUnit.NANOSECONDS.toMillis(STALL_NANOS) + " ms");
    }

    /**
     * Lets set out what was added: now, or as soon as there is room.
     *
     * @return false if the peer is gone
     */
    boolean flush() {
        post();
        if (batched > 0 && isAlive() && !draining) {
            // Not virtual: virtual threads that spin for an answer may have all processors, and wait for this one.
            Thread.ofPlatform().daemon().name("rackcall-rdma-post").start(this::drain);
            // Only now that it is started, or a host without threads to spare would never post again; it begins with
            // the lock.
            draining = true;
        }
        return isAlive();
    }

    /** Posts as much as there is room for; returns whether that was any. */
    private boolean post() {
        boolean any = false;
        while (batched > 0) {
            long room = RdmaEnd.SENDS - (added - batched - completed);
            int posted = room > 0 ? end.queuePair.postSend(batch, (int) Math.min(batched, room)) : 0;
            if (posted > 0) {
                shift(posted);
                any = true;
            } else if (!reap()) {
                break;
            }
        }
        clogged &= !any;
        waited = batched == 0 ? 0 : waited;
        return any;
    }

    /** Those that were posted leave the batch; the rest moves up. */
    private void shift(int posted) {
        for (int i = posted; i < batched; i++) {
            WorkRequest free = batch[i - posted];
            batch[i - posted] = batch[i];
            batch[i] = free;
        }
        batched -= posted;
    }

    /** Takes completions; returns whether there was a new one. */
    boolean reap() {
        long before = completed;
        int count = end.sends.poll(sent);
        for (int i = 0; i < count; i++) {
            if (sent.isSuccess(i)) {
                completed = sent.id(i);
            } else {
                carrier.end("a request ended with " + sent.status(i));
            }
        }
        return completed != before;
    }

    /** Posts all that was added, and waits so long for it to arrive. */
    void letArrive(long nanos) {
        long end = System.nanoTime() + nanos;
        while (completed < added && isAlive() && System.nanoTime() - end < 0) {
            if (!post() && !reap()) {
                Thread.onSpinWait();
            }
        }
    }

    // ---- the thread that looks for room

    private void drain() {
        long last = System.nanoTime();
        boolean more = true;
        while (more) {
            long now = System.nanoTime();
            lock.lock();
            try {
                if (isAlive() && post()) {
                    last = now;
                } else if (isAlive() && batched > 0 && now - last > STALL_NANOS) {
                    stalled();
                }
            } catch (RuntimeException | Error e) {
                carrier.end("posting failed: " + e);
            } finally {
                more = isAlive() && batched > 0;
                draining = more;
                if (!more && batched == 0) {
                    batch = Arrays.copyOf(batch, BATCH);
                }
                lock.unlock();
            }
            if (carrier.hasEnded()) {
                carrier.tellEnd();
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }
}
