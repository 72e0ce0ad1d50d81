package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.shm.protocol.LostWakeUps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * A future whose waiting threads poll for its end for a while before they block. {@link RpcFuture} decides how it is
 * completed.
 */
abstract class PolledFuture<T> extends CompletableFuture<T> {
    /**
     * Longest single park, in case the user completes the future by a method that wakes no thread, such as {@code
     * obtrudeValue}.
     */
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
     * The first waiting thread. It parks without attaching a stage, so a completing thread that finds no dependents
     * runs no user code.
     */
    private volatile Thread waiter;
    /** Whether the waiter has been woken. A permit alone could be consumed by a park that ends at the same time. */
    private volatile boolean woken;
    /** Whether the future has ended and its waiter is about to be woken. Plain: it only serves to count. */
    private boolean ended;

    /**
     * Polls for answers on behalf of a thread that waits for this future, for a while and at most until {@code end}.
     */
    abstract void help(long end);

    /** Called before a thread waits: lets the server skip the slots at which that thread is encoding other calls. */
    abstract void passOverOwn();

    /**
     * Completes the future with the outcome that the reactor left, if any; returns whether there was one. Only the
     * first thread's completion counts.
     */
    abstract boolean settleOutcome();

    /**
     * Takes the answer if it has arrived and no other thread has taken it; returns whether this thread did. Then it calls
     * {@link #finishTaken}.
     */
    abstract boolean takes();

    /** Completes the future with the answer that this thread has taken. It waits for the future, so it runs the stages. */
    abstract void finishTaken();

    /**
     * Wakes the waiting thread; returns whether there is one. That thread then completes the future with the outcome
     * that the reactor left.
     */
    boolean wakeWaiter() {
        Thread waiting = waiter;
        if (waiting == null) {
            return false;
        }
        woken = true;
        LockSupport.unpark(waiting);
        return true;
    }

    /**
     * Called when the user completes the future, in the way that {@code how} describes. Cancels the call if it has not
     * ended.
     */
    abstract void abandon(String how);

    /** Called after the future has ended. */
    void hasEnded() {
        ended = true;
        wakeWaiter();
    }

    /** Completes the future with the call's result; false if it has ended. */
    final boolean settleValue(T value) {
        boolean first = super.complete(value);
        hasEnded();
        return first;
    }

    /** Completes the future with the call's failure, unless it has ended. */
    final void settleFailure(Throwable failure) {
        if (failure instanceof RpcException e) {
            e.fromCall();
        }
        super.completeExceptionally(failure);
        hasEnded();
    }

    @Override
    public boolean complete(T value) {
        abandon("completed");
        return settleValue(value);
    }

    /** As {@link #cancel}, for a caller that fails the future itself, such as {@code orTimeout}. */
    @Override
    public boolean completeExceptionally(Throwable failure) {
        abandon("completed exceptionally");
        boolean first = super.completeExceptionally(failure);
        hasEnded();
        return first;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        abandon("cancelled");
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        hasEnded();
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

    /**
     * Makes the current thread the waiter; false if the future has ended or has a waiter. Further threads wait as for
     * any other future.
     */
    private boolean mayWait() {
        if (!isDone()) {
            passOverOwn();
        }
        return !isDone() && WAITER.compareAndSet(this, null, Thread.currentThread());
    }

    /** Parks for at most {@code nanos}; returns false at once if the future has ended. */
    private boolean nap(long nanos) {
        // The volatile store of the waiter precedes this check. The thread that ends the future checks the waiter
        // afterwards.
        if (isDone() || settleOutcome()) {
            return false;
        }
        LostWakeUps.park(
                this, nanos, () -> nanos == LONGEST_NAP_NANOS && ended && !woken, "a thread that waits for a future");
        return true;
    }

    /**
     * Withdraws the waiter, then settles an outcome that was left in the meantime. If the user has completed the
     * future, settling cancels the call, whose result is never seen.
     */
    private void waitNoMore() {
        waiter = null;
        // The volatile store above precedes this check. The reactor checks the waiter after it has stored the outcome.
        settleOutcome();
    }

    private void throwIfInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            waitNoMore();
            throw new InterruptedException();
        }
    }
}
