package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall.ResultReader;
import dev.rackcall.shm.codec.PayloadException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * The future of one asynchronous call. A thread that waits for it polls for answers itself before it blocks, which is faster than any hand-over;
 * when nobody waits, the client's reactor completes it. Cancelling it cancels the call.
 *
 * <p>What users attach to it may do anything: call, wait for other futures, block. So it runs on the thread that waits for this very future, or
 * else on a virtual thread of its own, and never on the reactor, which has to notice deaths, nor inside somebody else's call.
 */
final class RpcFuture<T> extends CompletableFuture<T> {
    private static final int PLAIN = 0;
    private static final int ATTACHED = 1;
    private static final int ENDING = 2;
    private static final int ENDED = 3;

    /** A waiting thread is woken when the future ends; this bounds what it costs if the user ends it in a way that does not come by here. */
    private static final long LONGEST_NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final VarHandle STATE;
    private static final VarHandle WAITER;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(RpcFuture.class, "state", int.class);
            WAITER = lookup.findVarHandle(RpcFuture.class, "waiter", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ShmClientConnection connection;
    private final ShmClientCall call;
    private final long ticket;
    private final ResultReader<T> reader;
    private final CallObserver observer;
    private final String name;
    /** nanoTime; 0 until the reactor first looks, for calls with the default time-out: the common call never reads the clock. */
    private long deadline;

    private long seal;

    /** Whether anything was attached before the end came. */
    private volatile int state;

    /** The first thread that waits. It attaches nothing, so that whoever ends the future knows that nothing will run. */
    private volatile Thread waiter;

    RpcFuture(ShmClientConnection connection, ShmClientCall call, ResultReader<T> reader, CallObserver observer) {
        this.connection = connection;
        this.call = call;
        this.ticket = call.ticket();
        this.reader = reader;
        this.observer = observer;
        this.name = call.name();
        this.deadline = call.deadline;
    }

    /** Before the call is sent: the seal of its arguments' scope, which this future releases. */
    void sealed(long taken) {
        seal = taken;
    }

    private void unseal(boolean answered) {
        if (seal != SentArguments.NO_SEAL) {
            SentArguments.release(connection.arenas, seal, answered);
        }
    }

    /** Nanoseconds left until the deadline. Only for the reactor thread. */
    long remaining(long now) {
        if (deadline == 0) {
            deadline = now + connection.spec.defaultTimeout().toNanos();
        }
        return deadline - now;
    }

    /** As {@link #finish(boolean)}, by a thread that does not wait for this future. */
    boolean finish() {
        return finish(false);
    }

    /**
     * Decodes the answer and gives the slot back, if it has come and this thread is the one to take it; returns whether so.
     *
     * @param mine whether the current thread waits for this future, and so may run what is attached to it
     */
    boolean finish(boolean mine) {
        if (!call.isAnswered(ticket) || !call.take(ticket)) {
            return false;
        }
        T value = null;
        RuntimeException failure = null;
        Status status = Status.OK;
        try {
            value = reader.read(call.answer(), call);
        } catch (RpcException e) {
            failure = e;
            status = e.status();
        } catch (PayloadException e) {
            RpcException rejected = call.rejected(e);
            failure = rejected;
            status = rejected.status();
        } catch (RuntimeException | Error e) {
            // Whoever polls may be another caller; and this future must end, whatever the answer did to its reader.
            status = ClientFailure.decodingFailed(name, e);
            failure = status.asException(e);
        }
        try {
            call.endAsync();
            unseal(true);
        } finally {
            // It was taken: nobody else would end it.
            end(value, failure, status, mine);
        }
        return true;
    }

    /** Ends the future because its connection is gone. */
    void lose(RpcException why) {
        if (call.take(ticket)) {
            try {
                call.endAsync();
                unseal(false);
            } finally {
                end(null, why, why.status(), false);
            }
        }
    }

    /** Ends the future because its deadline has passed. */
    void expire() {
        if (call.giveUp(ticket)) {
            unseal(false);
            connection.cancel(ticket);
            Status status = ClientFailure.deadlineExceeded(name);
            end(null, status.asException(), status, false);
        }
    }

    private void end(T value, RuntimeException failure, Status status, boolean mine) {
        Observers.tell(observer, status);
        if (mine) {
            settle(value, failure);
        } else if (STATE.compareAndSet(this, PLAIN, ENDING) && getNumberOfDependents() == 0) {
            try {
                settle(value, failure);
            } finally {
                state = ENDED;
            }
        } else {
            state = ATTACHED;
            Thread.startVirtualThread(() -> settle(value, failure));
        }
    }

    private void settle(T value, RuntimeException failure) {
        if (failure == null) {
            complete(value);
        } else {
            completeExceptionally(failure);
        }
    }

    /** Whoever attaches something asks for the stage that it leads to first. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        if (!STATE.compareAndSet(this, PLAIN, ATTACHED)) {
            // A few instructions of another thread, which must not find what is attached now.
            while (state == ENDING) {
                Thread.onSpinWait();
            }
        }
        return super.newIncompleteFuture();
    }

    @Override
    public boolean complete(T value) {
        boolean first = super.complete(value);
        LockSupport.unpark(waiter);
        return first;
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        boolean first = super.completeExceptionally(failure);
        LockSupport.unpark(waiter);
        return first;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (call.giveUp(ticket)) {
            unseal(false);
            connection.cancel(ticket);
            Observers.tell(observer, Status.Code.CANCELLED.with("%s: cancelled by its caller", name));
        }
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        LockSupport.unpark(waiter);
        return cancelled;
    }

    // ---- waiting for it

    @Override
    public T join() {
        connection.async.help(this);
        if (mayWait()) {
            boolean interrupted = false;
            while (nap(LONGEST_NAP_NANOS)) {
                interrupted |= Thread.interrupted();
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return super.join();
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        connection.async.help(this);
        if (mayWait()) {
            while (nap(LONGEST_NAP_NANOS)) {
                throwIfInterrupted();
            }
        }
        return super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        long end = System.nanoTime() + unit.toNanos(timeout);
        connection.async.help(this);
        if (mayWait()) {
            for (long left = end - System.nanoTime();
                    left > 0 && nap(Math.min(left, LONGEST_NAP_NANOS));
                    left = end - System.nanoTime()) {
                throwIfInterrupted();
            }
            waiter = null;
        }
        return super.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    }

    /** Whether the current thread is the one that may park here; a second one waits as for any other future. */
    private boolean mayWait() {
        if (!isDone()) {
            connection.slots.passOverOwn();
        }
        return !isDone() && WAITER.compareAndSet(this, null, Thread.currentThread());
    }

    /** Parks for at most {@code nanos} if the future has not ended; returns whether there was need to. */
    private boolean nap(long nanos) {
        // Volatile store of the waiter before this look; who ends the future looks at the waiter after it.
        if (isDone()) {
            return false;
        }
        LockSupport.parkNanos(this, nanos);
        return true;
    }

    private void throwIfInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            waiter = null;
            throw new InterruptedException();
        }
    }
}
