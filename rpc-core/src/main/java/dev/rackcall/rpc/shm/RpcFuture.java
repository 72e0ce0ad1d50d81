package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall.ResultReader;
import dev.rackcall.shm.codec.PayloadException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The future of one asynchronous call. A thread that waits for it polls for answers itself before it blocks, which is faster than any hand-over;
 * when nobody waits, the client's reactor completes it. Cancelling it cancels the call.
 */
final class RpcFuture<T> extends CompletableFuture<T> {
    private final ShmClientConnection connection;
    private final ShmClientCall call;
    private final long ticket;
    private final ResultReader<T> reader;
    private final CallObserver observer;
    private final String name;
    /** nanoTime; 0 until the reactor first looks, for calls with the default time-out: the common call never reads the clock. */
    private long deadline;

    RpcFuture(ShmClientConnection connection, ShmClientCall call, ResultReader<T> reader, CallObserver observer) {
        this.connection = connection;
        this.call = call;
        this.ticket = call.ticket();
        this.reader = reader;
        this.observer = observer;
        this.name = call.name();
        this.deadline = call.deadline;
    }

    /** Nanoseconds left until the deadline. Only for the reactor thread. */
    long remaining(long now) {
        if (deadline == 0) {
            deadline = now + connection.spec.defaultTimeout().toNanos();
        }
        return deadline - now;
    }

    /** Decodes the answer and gives the slot back, if it has come and this thread is the one to take it; returns whether so. */
    boolean finish() {
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
            status = Status.Code.INTERNAL.with("%s: decoding the server's answer failed: %s", name, e);
            failure = status.asException(e);
        } finally {
            call.endAsync();
        }
        end(value, failure, status);
        return true;
    }

    /** Ends the future because its connection is gone. */
    void lose(RpcException why) {
        if (call.take(ticket)) {
            call.endAsync();
            end(null, why, why.status());
        }
    }

    /** Ends the future because its deadline has passed. */
    void expire() {
        if (call.giveUp(ticket)) {
            connection.cancel(ticket);
            Status status = ShmClientCall.deadlineExceeded(name);
            end(null, status.asException(), status);
        }
    }

    private void end(T value, RuntimeException failure, Status status) {
        Observers.tell(observer, status);
        if (failure == null) {
            complete(value);
        } else {
            completeExceptionally(failure);
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (call.giveUp(ticket)) {
            connection.cancel(ticket);
            Observers.tell(observer, Status.Code.CANCELLED.with("%s: cancelled by its caller", name));
        }
        return super.cancel(mayInterruptIfRunning);
    }

    @Override
    public T join() {
        connection.async.help(this);
        return super.join();
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        connection.async.help(this);
        return super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        connection.async.help(this);
        return super.get(timeout, unit);
    }
}
