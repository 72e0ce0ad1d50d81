package dev.rackcall.rpc.shm.client;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * A future whose waiting threads poll for its end for a while before they block. {@link RpcFuture} says what it is the
 * end of.
 */
abstract class PolledFuture<T> extends CompletableFuture<T> {
    /** Bounds the wait of a thread that is not woken because the user completed the future by another method. */
    private static final long LONGEST_NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** More than a thread ever polls before it blocks. */
    private static final long LONGEST_HELP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final VarHandle WAITER;

    static {
        try {
            WAITER = MethodHandles.lookup().findVarHandle(PolledFuture.class, "waiter", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * The first waiting thread. It attaches no stage, so the thread that completes the future knows that no user code
     * runs.
     */
    private volatile Thread waiter;

    /** Polls for answers on behalf of a thread that waits for this future, for a while and at most until {@code end}. */
    abstract void help(long end);

    /** Called before a thread waits: it may be encoding another call's arguments, which the server would take first. */
    abstract void passOverOwn();

    /**
     * Completes the future with the outcome that the reactor left, if any; returns whether there was one. Only the
     * first thread's completion counts.
     */
    abstract boolean settleOutcome();

    /**
     * Completes the future if its answer has come and this thread takes it.
     *
     * @param mine whether this thread waits for the future
     * @return whether it was completed
     */
    abstract boolean finish(boolean mine);

    /**
     * Wakes the waiting thread; returns whether there is one. It then completes the future with the outcome that was
     * left.
     */
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
        help(System.nanoTime() + LONGEST_HELP_NANOS);
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
        help(System.nanoTime() + LONGEST_HELP_NANOS);
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
        help(end);
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

    /** Whether the current thread may park here. Further threads wait as for any other future. */
    private boolean mayWait() {
        if (!isDone()) {
            passOverOwn();
        }
        return !isDone() && WAITER.compareAndSet(this, null, Thread.currentThread());
    }

    /** Parks for at most {@code nanos} if the future has not ended; returns whether it had not. */
    private boolean nap(long nanos) {
        // Volatile store of the waiter before this look. The thread that ends the future looks at the waiter after it.
        if (isDone() || settleOutcome()) {
            return false;
        }
        LockSupport.parkNanos(this, nanos);
        return true;
    }

    /**
     * Also if another thread completed the future: an outcome left just now must still be settled, so that its result
     * is given back.
     */
    private void waitNoMore() {
        waiter = null;
        // Volatile store above, then this look. The reactor looks at the waiter after it has stored the outcome.
        settleOutcome();
    }

    private void throwIfInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            waitNoMore();
            throw new InterruptedException();
        }
    }
}
