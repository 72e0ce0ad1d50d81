package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.Observers;
import dev.rackcall.rpc.spi.ClientCall.ResultReader;
import dev.rackcall.shm.codec.PayloadException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;

/**
 * The future of one asynchronous call. A waiting thread polls for answers itself before it blocks, which is faster than
 * a hand-over; without one the client's reactor completes the future. Cancelling it, or completing it otherwise (as
 * {@code orTimeout} does), cancels the call.
 *
 * <p>Stages that users attach may do anything: call, wait for other futures, block. They run on the thread that waits
 * for this very future, or on a virtual thread of their own. They never run on the reactor, which has to notice deaths,
 * nor inside another caller's call.
 */
final class RpcFuture<T> extends PolledFuture<T> {
    private static final int PLAIN = 0;
    private static final int ATTACHED = 1;
    private static final int ENDING = 2;
    private static final int ENDED = 3;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(RpcFuture.class, "state", int.class);
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
    /**
     * nanoTime; 0 until the reactor first looks, for calls with the default time-out: the common call never reads the
     * clock.
     */
    private long deadline;

    /** Whether the deadline had passed before the call was sent. */
    private final boolean late;

    private long seal;

    /** Whether a stage was attached before the end came. */
    private volatile int state;

    /** How the call ended, if the reactor leaves the completion to another thread. */
    private volatile Outcome<T> outcome;

    private record Outcome<T>(T value, RuntimeException failure) {}

    RpcFuture(ShmClientConnection connection, ShmClientCall call, ResultReader<T> reader, CallObserver observer) {
        this.connection = connection;
        this.call = call;
        this.ticket = call.ticket();
        this.reader = reader;
        this.observer = observer;
        this.name = call.name();
        this.deadline = call.deadline;
        this.late = call.isLate();
    }

    @Override
    void help(long end) {
        connection.async.help(this, end);
    }

    @Override
    void passOverOwn() {
        connection.slots.passOverOwn();
    }

    /** Sets the seal of the call's arguments, before the call is sent; this future releases it. */
    void sealed(long taken) {
        seal = taken;
    }

    private void unseal(boolean answered) {
        if (seal != SentArguments.NO_SEAL) {
            SentArguments.release(connection.arenas, seal, answered);
        }
    }

    /** Nanoseconds left until the deadline. Reactor only. */
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
     * Decodes the answer and gives the slot back. Attached stages run here only if this thread waits for the future.
     */
    @Override
    boolean finish(boolean mine) {
        if (!call.isAnswered(ticket) || !call.take(ticket)) {
            return false;
        }
        if (!mine && call.mustAskToRead()) {
            // A polling thread has other work, and the reactor must not wait at all.
            Thread.startVirtualThread(() -> read(false));
        } else {
            read(mine);
        }
        return true;
    }

    /** Called by the thread that has taken the answer. */
    private void read(boolean mine) {
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
            // The polling thread may be another caller, and this future must end, whatever the answer did to its
            // reader.
            status = ClientFailure.decodingFailed(name, e);
            failure = status.asException(e);
        }
        try {
            call.endAsync();
            unseal(true);
        } finally {
            // The answer was taken, so no other thread would end the future.
            end(value, failure, status, mine);
        }
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
            Status status = ClientFailure.deadlineExceeded(name, late);
            end(null, status.asException(), status, false);
        }
    }

    private void end(T value, RuntimeException failure, Status status, boolean mine) {
        Observers.tell(observer, status);
        if (mine) {
            settle(value, failure);
        } else if (connection.end.reactor().isCurrent()) {
            leaveToOthers(new Outcome<>(value, failure));
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

    /**
     * The reactor completes no future itself, whatever is attached: {@code allOf} attaches without asking for a stage,
     * possibly just now. The waiting thread completes it, or else a virtual thread.
     */
    private void leaveToOthers(Outcome<T> decided) {
        outcome = decided;
        if (!wakeWaiter()) {
            Thread.startVirtualThread(this::settleOutcome);
        }
    }

    @Override
    boolean settleOutcome() {
        Outcome<T> decided = outcome;
        if (decided == null) {
            return false;
        }
        settle(decided.value, decided.failure);
        return true;
    }

    private void settle(T value, RuntimeException failure) {
        if (failure != null) {
            super.completeExceptionally(failure);
        } else if (!super.complete(value) && !hasGiven(value)) {
            // The caller ended it first, so it will not give this result back.
            connection.cancel(ticket);
        }
    }

    /** Whether another thread has already settled the outcome. */
    private boolean hasGiven(T value) {
        return state() == State.SUCCESS && resultNow() == value;
    }

    /** Called before any stage is attached. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        if (!STATE.compareAndSet(this, PLAIN, ATTACHED)) {
            // Another thread is a few instructions away from the end, and must not see this stage.
            while (state == ENDING) {
                Thread.onSpinWait();
            }
        }
        return super.newIncompleteFuture();
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        abandon("cancelled");
        return super.cancel(mayInterruptIfRunning);
    }

    /** As {@link #cancel}, for a caller with an end of its own, such as a time-out. */
    @Override
    public boolean completeExceptionally(Throwable failure) {
        abandon("completed exceptionally");
        return super.completeExceptionally(failure);
    }

    /** As {@link #cancel}, for a caller with a result of its own. */
    @Override
    public boolean complete(T value) {
        abandon("completed");
        return super.complete(value);
    }

    private void abandon(String how) {
        if (call.giveUp(ticket)) {
            unseal(false);
            connection.cancel(ticket);
            Observers.tell(observer, Status.Code.CANCELLED.with("%s: %s by its caller", name, how));
        }
    }
}
