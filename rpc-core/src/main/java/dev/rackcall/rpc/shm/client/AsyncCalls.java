package dev.rackcall.rpc.shm.client;

import dev.rackcall.shm.waiting.WaitStrategy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The calls of one connection whose answers no caller spins for: futures and parked virtual threads. Any thread may poll; each
 * answer is taken by exactly one. There is no lock, so code that a completed future runs may call, wait and poll again.
 */
final class AsyncCalls {
    /** How long a thread that waits for a future polls, at the most, before it blocks and leaves polling to the reactor. */
    private static final int MAX_HELP_SPINS = 20_000;

    /** An asynchronous sender polls once in so many calls, so that answers do not pile up while it only sends. */
    private static final int SENDS_PER_POLL = 16;

    /** A helping thread looks at its own call each time, and at all calls only now and then: that is a look at every slot. */
    private static final int SPINS_PER_POLL = 16;

    private final ShmClientConnection connection;
    private final ShmClientCall[] calls;
    private final int helpSpins;
    private int sends;
    /** Counts polls by helping threads; the reactor looks whether it moves. Lost updates do not matter. */
    private volatile int helped;

    AsyncCalls(ShmClientConnection connection, ShmClientCall[] calls) {
        this.connection = connection;
        this.calls = calls;
        int spins = Math.min(MAX_HELP_SPINS, connection.spec.waiting().spins());
        this.helpSpins = connection.link.looking(new WaitStrategy(spins, 0)).spins();
    }

    /** After an asynchronous call was sent (and its state set before a full fence): sees to it that somebody polls. */
    void sent() {
        if (++sends % SENDS_PER_POLL == 0) {
            poll();
        }
        connection.link.reactor().wakeIfIdle();
    }

    /** Completes what is answered; returns how many. */
    int poll() {
        int completed = 0;
        connection.link.look();
        for (ShmClientCall call : calls) {
            if (call.isAsync() && call.isAnswered()) {
                RpcFuture<?> future = call.future;
                if (future != null) {
                    future.finish();
                    completed++;
                }
            } else if (call.waiter != null && call.isAnswered()) {
                unpark(call);
                completed++;
            }
        }
        return completed;
    }

    private static void unpark(ShmClientCall call) {
        Thread waiter = call.waiter;
        // Only this one's announcement is taken back: meanwhile the slot may have its next call, whose thread parks.
        if (waiter != null && call.dismiss(waiter)) {
            LockSupport.unpark(waiter);
        }
    }

    /** As {@link #help(PolledFuture)}, but no longer than that. */
    void help(PolledFuture<?> future, long nanos) {
        long end = System.nanoTime() + nanos;
        int spins = helpSpins;
        while (spins > 0 && !future.isDone() && connection.isOpen()) {
            help(future, Math.min(spins, SPINS_PER_POLL));
            spins = System.nanoTime() - end < 0 ? spins - SPINS_PER_POLL : 0;
        }
    }

    /** Polls on behalf of a thread that waits for {@code future}, for a while. */
    void help(PolledFuture<?> future) {
        help(future, helpSpins);
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // of helped, where lost updates do not matter
    private void help(PolledFuture<?> future, int spins) {
        for (int i = 0; i < spins && !future.isDone(); i++) {
            if (!future.finish(true) && (i % SPINS_PER_POLL != SPINS_PER_POLL - 1 || poll() == 0)) {
                if (!connection.link.isOpen()) {
                    return;
                }
                connection.link.look();
                Thread.onSpinWait();
            }
            if (i % SPINS_PER_POLL == 0) {
                helped++;
            }
        }
    }

    /** Parks the calling virtual thread until {@code call} is answered or {@code wait} has had enough; returns whether in time. */
    boolean park(ShmClientCall call, SpinWait wait) {
        call.waiter = Thread.currentThread();
        connection.link.listen();
        // Volatile store above, then this look; who answers looks at the waiter after it.
        connection.link.reactor().wakeIfIdle();
        boolean inTime = call.isAnswered() || wait.park();
        call.waiter = null;
        return inTime;
    }

    /** Whether any answer is awaited that no thread spins for. */
    boolean isAwaited() {
        for (ShmClientCall call : calls) {
            if (call.isAsync() || call.waiter != null) {
                return true;
            }
        }
        return false;
    }

    /** Changes while threads help. */
    int helped() {
        return helped;
    }

    /** Fails futures whose deadline has passed; returns nanoseconds until the next deadline, at most {@code bound}. */
    long expire(long now, long bound) {
        long next = bound;
        for (ShmClientCall call : calls) {
            RpcFuture<?> future = call.future;
            if (future != null && call.isAsync()) {
                long left = future.remaining(now);
                if (left <= 0) {
                    future.expire();
                } else {
                    next = Math.min(next, left);
                }
            }
        }
        return Math.max(next, TimeUnit.MICROSECONDS.toNanos(1));
    }

    /** The connection is gone: ends every call that waits here. */
    void loseAll() {
        for (ShmClientCall call : calls) {
            RpcFuture<?> future = call.future;
            if (future != null && call.isAsync()) {
                // A server that hung up after it had answered did answer; but not if it is us who end it.
                if (connection.link.isClosedHere() || !future.finish()) {
                    future.lose(connection.link.failure());
                }
            }
            unpark(call);
        }
    }
}
