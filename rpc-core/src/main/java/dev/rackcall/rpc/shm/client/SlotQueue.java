package dev.rackcall.rpc.shm.client;

import java.lang.foreign.Arena;
import java.lang.invoke.VarHandle;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * The threads that wait for a free slot, in order of arrival. Only the first one claims: each call that leaves a slot
 * wakes it, and when it has claimed it wakes the next. Thread-safe.
 *
 * <p>A call that leaves its slot executes no fence for this while no thread waits. Instead, the first thread to wait
 * makes all threads of the process pass a handshake ({@link #open}). From then on, calls fence and look at the queue,
 * until {@link #UNNEEDED} of them have found it empty.
 */
final class SlotQueue {
    /** This number of calls that find the queue empty costs about as much, in fences, as one handshake. */
    static final int UNNEEDED = 1024;

    private final Queue<Waiter> waiters = new ConcurrentLinkedQueue<>();
    /** Whether calls that leave a slot look at the queue. */
    private volatile boolean wanted;
    /** Calls that found the queue empty. A lost update delays the end of {@link #wanted} by one call. */
    private int unneeded;

    /** A thread in the queue. */
    static final class Waiter {
        private final Thread thread = Thread.currentThread();
        /** Whether the thread has been woken since {@link SlotQueue#rest}. A permit alone could be consumed by a lock. */
        private volatile boolean woken;

        /** Asynchronous calls that were queued before the thread came, as {@link CallQueue#added} counts them. */
        private final long before;

        private Waiter(long before) {
            this.before = before;
        }

        private void wake() {
            if (!woken) {
                woken = true;
                LockSupport.unpark(thread);
            }
        }

        boolean isWoken() {
            return woken;
        }
    }

    /**
     * Adds the calling thread, which removes itself with {@link #leave}.
     *
     * @param before {@link CallQueue#added} when the thread came
     */
    Waiter enter(long before) {
        Waiter waiter = new Waiter(before);
        waiters.add(waiter);
        return waiter;
    }

    /** Removes a thread that has claimed a slot or gives up, and wakes the first of the others. */
    void leave(Waiter waiter) {
        waiters.remove(waiter);
        wakeFirst();
    }

    /** Whether this thread may claim a slot now. */
    boolean isFirst(Waiter waiter) {
        return waiters.peek() == waiter;
    }

    /** Whether a new caller has to wait behind others. One load while no thread waits. */
    boolean hasWaiters() {
        return wanted && !waiters.isEmpty();
    }

    /** Whether the first thread came before all asynchronous calls that are queued now. */
    boolean cameBefore(CallQueue calls) {
        Waiter first = waiters.peek();
        return first != null && calls.haveLeft(first.before);
    }

    /**
     * Called by the first thread before it looks for a free slot for the last time. A call that leaves a slot later
     * wakes the thread; the thread sees the slots of all calls that did not.
     */
    void open(Waiter first) {
        first.woken = false;
        // Partner: left, which clears it, fences, and then looks at the queue once more. This thread is in the queue.
        if (!wanted) {
            wanted = true;
            unneeded = 0;
            passHandshake();
        }
    }

    /**
     * Returns when every thread of the process has passed a safepoint. No thread is then still between leaving a slot
     * and reading an old value of {@link #wanted}: it has read true, or its slot is visible. Closing a shared arena
     * does this.
     */
    private static void passHandshake() {
        Arena.ofShared().close();
    }

    /** Called by a thread in the queue that is not the first, before it reads its position for the last time. */
    static void rest(Waiter waiter) {
        // Partner: wakeFirst, which runs after the change of the queue.
        waiter.woken = false;
    }

    /** Parks the calling thread until it is woken, for at most {@code nanos}; returns false if the time ran out. */
    static boolean park(Waiter waiter, long nanos) {
        long began = System.nanoTime();
        if (!waiter.isWoken()) {
            LockSupport.parkNanos(nanos);
        }
        return waiter.isWoken() || System.nanoTime() - began < nanos;
    }

    /** Whether a call that leaves its slot has to call {@link #left}. Partner: {@link #passHandshake}. */
    boolean isWanted() {
        return wanted;
    }

    /** Called after a slot was left: wakes the first thread. */
    void left() {
        // Partner: open, after which the first thread looks at the slots.
        VarHandle.fullFence();
        if (!wakeFirst() && ++unneeded > UNNEEDED) {
            wanted = false;
            VarHandle.fullFence();
            wakeFirst();
        }
    }

    /** Wakes the first thread, if there is one, so that it looks for a slot and at the connection's state. */
    boolean wakeFirst() {
        Waiter first = waiters.peek();
        if (first != null) {
            first.wake();
        }
        return first != null;
    }
}
