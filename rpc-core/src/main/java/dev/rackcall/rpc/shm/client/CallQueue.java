package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientSpec;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The asynchronous and one-way calls of a connection that wait for a free slot, first come, first served. Any thread
 * may send them; one thread at a time does, to keep their order. Thread-safe.
 */
final class CallQueue {
    /** A call that waits. */
    interface Entry {
        String method();

        /** Bytes of encoded arguments. */
        long bytes();

        /** On the connection's clock. */
        long deadline();

        /** Whether no caller gets to know if it is lost. */
        boolean isOneWay();

        /** Sends the call in a slot that the calling thread holds. Throws nothing. */
        void send(ClientCall slot);

        /** Ends the call, which was not sent. */
        void end(Status status);
    }

    /** The connection whose slots the calls wait for. */
    interface Exit {
        ClientSpec spec();

        /** The next free slot; null if there is none. */
        ClientCall claimNow();

        /** Whether a thread waits for a slot since before all calls in the queue. */
        boolean hasEarlierThread();

        /** Wakes the first thread that waits for a slot. */
        void wakeThread();

        /** Returns a slot that is not needed. */
        void giveBack(ClientCall slot);

        /** Ensures that a thread polls for answers and sends queued calls. */
        void callQueued();

        /** Why the connection has ended; empty if it has not. */
        Optional<RpcException> end();
    }

    /** Maximum number of queued calls. The connection's arena quota bounds the bytes of their arguments. */
    static final int MOST_CALLS = 1_024;

    private final Exit exit;
    private final Deque<Entry> waiting = new ArrayDeque<>();
    /** Bytes of arguments that wait. Guarded by this. */
    private long bytes;
    /** Calls that wait. Written under the lock; read by every call that begins. */
    private volatile int size;

    /** Calls added so far. Guarded by this. */
    private long added;

    private final ReentrantLock sending = new ReentrantLock();
    /** Counts the attempts to send, so that a thread that stops sending notices a concurrent attempt. */
    private final AtomicInteger attempts = new AtomicInteger();

    CallQueue(Exit exit) {
        this.exit = exit;
    }

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    /** The number of calls that were added so far, for {@link #haveLeft}. */
    synchronized long added() {
        return added;
    }

    /** Whether {@code count} calls have left the queue: the first ones, unless later ones were cancelled. */
    synchronized boolean haveLeft(long count) {
        return added - size >= count;
    }

    /**
     * Adds a call after those that wait.
     *
     * @throws RpcException RESOURCE_EXHAUSTED if the queue is full, or the reason why the connection has ended; the
     *     caller reports it to the call's observer
     */
    void add(Entry call) {
        synchronized (this) {
            requireRoom(call.method(), call.bytes());
            waiting.add(call);
            bytes += call.bytes();
            size = waiting.size();
            added++;
        }
        flush();
        exit.callQueued();
        // The thread that ended the connection may have looked before this call was added.
        exit.end().ifPresent(this::loseAll);
    }

    /** Throws if no call with {@code more} bytes of arguments may wait. */
    synchronized void requireRoom(String method, long more) {
        if (size >= MOST_CALLS || (size > 0 && bytes + more > exit.spec().arenaQuota())) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "%s: all %d slots of channel %s are taken, and %d asynchronous calls with %d bytes of arguments wait"
                                    + " already (at most %d calls and %d bytes may); wait for their futures, or make a synchronous"
                                    + " call, which waits until they are sent, before you make more calls, or open the channel with more slots",
                            method,
                            exit.spec().slots(),
                            exit.spec().channel(),
                            size,
                            bytes,
                            MOST_CALLS,
                            exit.spec().arenaQuota())
                    .asException();
        }
    }

    /** The number of one-way calls that wait. */
    synchronized int oneWay() {
        return (int) waiting.stream().filter(Entry::isOneWay).count();
    }

    /** Removes a queued call; returns whether it was still queued. */
    synchronized boolean remove(Entry call) {
        boolean removed = waiting.remove(call);
        if (removed) {
            left(call);
        }
        return removed;
    }

    private void left(Entry call) {
        bytes -= call.bytes();
        size = waiting.size();
    }

    private synchronized Entry poll() {
        Entry first = waiting.poll();
        if (first != null) {
            left(first);
        }
        return first;
    }

    /** Sends the calls for which there are slots, unless another thread is doing so. Never blocks. */
    void flush() {
        if (size == 0 || sending.isHeldByCurrentThread()) {
            return;
        }
        attempts.incrementAndGet();
        int seen;
        do {
            seen = attempts.get();
            if (!sending.tryLock()) {
                // The thread that sends reads the number of attempts once more after it has unlocked.
                return;
            }
            try {
                sendAll();
            } finally {
                sending.unlock();
            }
        } while (attempts.get() != seen);
    }

    private void sendAll() {
        boolean sent = false;
        while (size > 0) {
            if (exit.hasEarlierThread()) {
                // The next free slot is that thread's; it flushes when it has one. A call that leaves a slot wakes it,
                // but it may have looked before this thread sent the calls that came before it.
                if (sent) {
                    exit.wakeThread();
                }
                return;
            }
            ClientCall slot;
            try {
                slot = exit.claimNow();
            } catch (RpcException e) {
                loseAll(e);
                return;
            }
            if (slot == null) {
                return;
            }
            Entry first = poll();
            if (first == null) {
                // It was cancelled in the meantime.
                exit.giveBack(slot);
                return;
            }
            first.send(slot);
            sent = true;
        }
    }

    /**
     * Fails the calls whose deadline has passed; returns nanoseconds until the next one, at most {@code bound}.
     *
     * @param now on the connection's clock
     */
    long expire(long now, long bound) {
        if (size == 0) {
            return bound;
        }
        List<Entry> late = new ArrayList<>();
        long next = bound;
        synchronized (this) {
            for (Entry each : waiting) {
                long left = each.deadline() - now;
                if (left <= 0) {
                    late.add(each);
                } else {
                    next = Math.min(next, left);
                }
            }
        }
        for (Entry each : late) {
            if (remove(each)) {
                each.end(Status.Code.DEADLINE_EXCEEDED.with(
                        "%s: its deadline passed while it waited for a free slot (all %d of channel %s were taken); make"
                                + " fewer calls at once, or open the channel with more slots",
                        each.method(), exit.spec().slots(), exit.spec().channel()));
            }
        }
        return next;
    }

    /** The connection has ended. */
    void loseAll(RpcException why) {
        for (Entry each = poll(); each != null; each = poll()) {
            each.end(why.status());
        }
    }
}
