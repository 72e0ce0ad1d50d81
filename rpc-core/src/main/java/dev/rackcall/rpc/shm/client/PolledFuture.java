package dev.rackcall.rpc.shm.client;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/** A future whose waiting threads poll for its end themselves, for a while, before they block. What it is the end of is in {@link RpcFuture}. */
abstract class PolledFuture<T> extends CompletableFuture<T> {
    /** A waiting thread is woken when the future ends; this bounds what it costs if the user ends it in a way that does not come by here. */
    private static final long LONGEST_NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final VarHandle WAITER;

    static {
        try {
            WAITER = MethodHandles.lookup().findVarHandle(PolledFuture.class, "waiter", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The first thread that waits. It attaches nothing, so that whoever ends the future knows that nothing will run. */
    private volatile Thread waiter;

    /** Polls for answers on behalf of a thread that waits for this future, for at most {@code nanos}. */
    abstract void help(long nanos);

    /** Polls for answers on behalf of a thread that waits for this future, for a while. */
    abstract void help();

    /** Called before a thread waits: it may be encoding another call's arguments, which the server would take first. */
    abstract void passOverOwn();

    /** Settles what the reactor has left to others, if there is anything; returns whether so. Of several who do, the first one matters. */
    abstract boolean settleOutcome();

    /** Settles the future if its answer has come and this thread is the one to take it; {@code mine}: because it waits for it. Returns whether so. */
    abstract boolean finish(boolean mine);

    /** Wakes the thread that waits; returns whether there is one, which then settles what has been left to it. */
    boolean wakeWaiter() {
        Thread waiting = waiter;
        LockSupport.unpark(waiting);
        return waiting != null;
    }

    @Override
    public boolean complete(T value) {
        boolean first = super.complete(value);
        wakeWaiter();
        return first;
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        boolean first = super.completeExceptionally(failure);
        wakeWaiter();
        return first;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        wakeWaiter();
        return cancelled;
    }

    @Override
    public T join() {
        help();
        if (mayWait()) {
            boolean interrupted = false;
            while (nap(LONGEST_NAP_NANOS)) {
                interrupted |= Thread.interrupted();
            }
            waitNoMore();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return super.join();
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        help();
        if (mayWait()) {
            while (nap(LONGEST_NAP_NANOS)) {
                throwIfInterrupted();
            }
            waitNoMore();
        }
        return super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        long end = System.nanoTime() + unit.toNanos(timeout);
        help(end - System.nanoTime());
        if (mayWait()) {
            for (long left = end - System.nanoTime();
                    left > 0 && nap(Math.min(left, LONGEST_NAP_NANOS));
                    left = end - System.nanoTime()) {
                throwIfInterrupted();
            }
            waitNoMore();
        }
        return super.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    }

    /** Whether the current thread is the one that may park here; a second one waits as for any other future. */
    private boolean mayWait() {
        if (!isDone()) {
            passOverOwn();
        }
        return !isDone() && WAITER.compareAndSet(this, null, Thread.currentThread());
    }

    /** Parks for at most {@code nanos} if the future has not ended; returns whether there was need to. */
    private boolean nap(long nanos) {
        // Volatile store of the waiter before this look; who ends the future looks at the waiter after it.
        if (isDone() || settleOutcome()) {
            return false;
        }
        LockSupport.parkNanos(this, nanos);
        return true;
    }

    /** Also if somebody else has ended the future: what was left to this thread just then is a result that nobody will ever give back. */
    private void waitNoMore() {
        waiter = null;
        // Volatile store above, then this look; the reactor looks at the waiter after it has stored the outcome.
        settleOutcome();
    }

    private void throwIfInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            waitNoMore();
            throw new InterruptedException();
        }
    }
}
