package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientCall.ResultReader;
import dev.rackcall.rpc.spi.EndObservers;
import dev.rackcall.rpc.spi.FutureThreads;
import dev.rackcall.shm.codec.PayloadException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;

/**
 * The future of one asynchronous call. A waiting thread polls for answers itself before it blocks, which is faster than
 * a hand-over. If no thread waits, the reactor takes the answer and a virtual thread completes the future. Cancelling
 * it, or completing it otherwise (as {@code orTimeout} does), cancels the call.
 *
 * <p>Stages that users attach may do anything: call, wait for other futures, block. They run on the thread that waits
 * for this very future, or on a virtual thread of their own. They never run on the reactor, which has to notice deaths,
 * nor inside another caller's call.
 */
final class RpcFuture<T> extends PolledFuture<T> implements ClientCall.Pending {
    private static final int PLAIN = 0;
    private static final int ATTACHED = 1;
    private static final int ENDING = 2;
    private static final int ENDED = 3;

    private static final VarHandle STATE;
    private static final VarHandle RECEIVED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(RpcFuture.class, "state", int.class);
            RECEIVED = lookup.findVarHandle(RpcFuture.class, "received", long.class);
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
     * On the connection's clock. With the default timeout it is 0 until the reactor first checks, so the common call never reads the
     * clock.
     */
    private long deadline;

    /** Whether the deadline had passed before the call was sent. */
    private final boolean late;

    private long seal;

    private volatile boolean neverBegun;

    /** {@link ShmClientCall#received}, until the result is dropped. Written before the future ends. */
    @SuppressWarnings("unused") // RECEIVED
    private long received;

    /** PLAIN, ATTACHED, ENDING or ENDED: whether a stage was attached before the call ended. */
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
        this.deadline = call.end();
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

    /** Nanoseconds left until the deadline, at a time on the connection's clock. Reactor only. */
    long remaining(long now) {
        if (deadline == 0) {
            deadline = now + connection.spec.defaultTimeout().toNanos();
        }
        return deadline - now;
    }

    /** Takes the answer if it can, on a thread that does not wait for this future, and so runs no stages. */
    boolean finish() {
        if (!takes()) {
            return false;
        }
        if (call.mustAskToRead()) {
            // Reading may take a round trip: a polling thread has other work, and the reactor must never block.
            FutureThreads.run(() -> read(false));
        } else {
            read(false);
        }
        return true;
    }

    @Override
    boolean takes() {
        if (!call.isAnswered(ticket) || !call.take(ticket)) {
            return false;
        }
        call.countTime();
        return true;
    }

    @Override
    void finishTaken() {
        read(true);
    }

    /**
     * Decodes the answer and releases the slot. Called by the thread that has taken the answer.
     *
     * @param mine whether that thread waits for this future
     */
    private void read(boolean mine) {
        T value = null;
        RuntimeException failure = null;
        Status status = Status.OK;
        Metadata trailers = Metadata.EMPTY;
        try {
            value = reader.read(call.answer(), call);
            trailers = call.trailers();
        } catch (RpcException e) {
            failure = e;
            status = e.status();
            trailers = e.trailers();
        } catch (PayloadException e) {
            RpcException rejected = call.rejected(e);
            failure = rejected;
            status = rejected.status();
        } catch (RuntimeException | Error e) {
            // This thread may be waiting for another call, which must not see the failure. This future must still end.
            status = ClientFailure.decodingFailed(name, e);
            failure = status.asException(e);
        }
        received = call.received();
        try {
            call.endAsync();
            unseal(true);
        } finally {
            // The answer was taken, so no other thread would end the future.
            end(value, failure, new Ended(status, trailers), mine);
        }
    }

    /** Ends the future because its connection is gone. */
    void lose(RpcException why) {
        if (call.take(ticket)) {
            try {
                neverBegun = call.isNeverBegun();
                call.endAsync();
                unseal(false);
            } finally {
                end(null, why, new Ended(why.status(), Metadata.EMPTY), false);
            }
        }
    }

    /** Ends the future because its deadline has passed. */
    void expire() {
        if (call.giveUp(ticket)) {
            unseal(false);
            connection.cancel(ticket);
            Status status = ClientFailure.deadlineExceeded(name, late);
            end(null, status.asException(), new Ended(status, Metadata.EMPTY), false);
        }
    }

    /** What the call's observer is told. */
    private record Ended(Status status, Metadata trailers) {}

    private void end(T value, RuntimeException failure, Ended ended, boolean mine) {
        EndObservers.tell(observer, ended.status, ended.trailers);
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
            FutureThreads.run(() -> settle(value, failure));
        }
    }

    /**
     * The reactor never completes a future itself: {@code allOf} attaches without calling newIncompleteFuture, and may
     * be doing so at this moment. The waiting thread completes it, or else a virtual thread.
     */
    private void leaveToOthers(Outcome<T> decided) {
        outcome = decided;
        if (!wakeWaiter()) {
            FutureThreads.run(this::settleOutcome);
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
            settleFailure(failure);
        } else if (!settleValue(value) && !hasGiven(value)) {
            // The caller completed the future first.
            drop(value);
        }
    }

    /** Cancels the call for it: the server finds the result by its ticket. */
    @Override
    public void drop(Object value) {
        connection.cancel(ticket);
        // Several threads may find that the caller was first.
        long counted = (long) RECEIVED.getAndSet(this, 0L);
        if (counted != 0) {
            connection.unreleased.released(counted);
        }
    }

    @Override
    public boolean wasNeverBegun() {
        return neverBegun;
    }

    /** Whether another thread has already settled the outcome. */
    private boolean hasGiven(T value) {
        return state() == State.SUCCESS && resultNow() == value;
    }

    /** Called before a stage is attached, though not by {@code allOf}. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        if (!STATE.compareAndSet(this, PLAIN, ATTACHED)) {
            // Another thread is completing the future at this moment, and must not run the new stage.
            while (state == ENDING) {
                Thread.onSpinWait();
            }
        }
        return super.newIncompleteFuture();
    }

    @Override
    void abandon(String how) {
        if (call.giveUp(ticket)) {
            unseal(false);
            connection.cancel(ticket);
            EndObservers.tell(observer, Status.Code.CANCELLED.with("%s: %s by its caller", name, how), Metadata.EMPTY);
        }
    }
}
