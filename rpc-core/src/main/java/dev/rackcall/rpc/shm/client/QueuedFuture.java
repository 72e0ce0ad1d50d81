package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientCall.ResultReader;
import dev.rackcall.rpc.spi.FutureThreads;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The future of an asynchronous call that waits, or waited, for a free slot. Cancelling or otherwise completing it
 * removes the call from the queue, or cancels it at the server. As with {@link RpcFuture}, stages run on the thread
 * that waits for this future or on a virtual thread.
 */
final class QueuedFuture<T> extends PolledFuture<T> implements ClientCall.Pending {
    private final QueuedCall.Over connection;
    private final QueuedCall call;
    private final ResultReader<T> reader;
    /** The future of the call that was sent; null while it is queued. */
    private volatile CompletableFuture<T> sent;
    /** Whether the call left the queue without being sent. */
    private volatile boolean unsent;

    QueuedFuture(QueuedCall.Over connection, QueuedCall call, ResultReader<T> reader) {
        this.connection = connection;
        this.call = call;
        this.reader = reader;
    }

    /** Sends the call in a slot that the calling thread holds. Called once, after it left the queue. */
    void send(ClientCall slot) {
        call.handOver(slot, begun -> follow(begun.invokeAsync(reader)));
    }

    private void follow(CompletableFuture<T> inner) {
        sent = inner;
        if (isDone()) {
            // The user completed this future before the field held the other one.
            inner.cancel(true);
        }
        // On a thread of its own: this may be the reactor, and it holds the queue's lock, so it must not run users'
        // stages.
        var _ = inner.whenCompleteAsync(this::answered, FutureThreads::run);
    }

    /** Fails a call that was still queued. */
    void failUnsent(Throwable failure) {
        unsent = true;
        fail(failure);
    }

    /** Fails a call that could not be sent. */
    void fail(Throwable failure) {
        // Stages must not run on the reactor.
        FutureThreads.run(() -> settleFailure(failure));
    }

    private void answered(T value, Throwable failure) {
        if (failure != null) {
            settleFailure(
                    failure instanceof CompletionException && failure.getCause() != null
                            ? failure.getCause()
                            : failure);
        } else if (!settleValue(value)) {
            drop(value);
        }
    }

    @Override
    public boolean wasNeverBegun() {
        return unsent || (sent instanceof ClientCall.Pending pending && pending.wasNeverBegun());
    }

    @Override
    public void drop(Object value) {
        if (sent instanceof ClientCall.Pending answered) {
            answered.drop(value);
        }
    }

    @Override
    void abandon(String how) {
        if (connection.queue().remove(call)) {
            call.tellEnd(Status.Code.CANCELLED.with("%s: %s by its caller before it was sent", call.method(), how));
        }
    }

    @Override
    void hasEnded() {
        super.hasEnded();
        CompletableFuture<T> inner = sent;
        if (inner != null) {
            // Does nothing if that call ended first.
            inner.cancel(true);
        }
    }

    /** Dependent stages are ordinary futures. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }

    // ---- while a thread waits for it

    @Override
    void help(long end) {
        connection.help(this, end);
    }

    @Override
    void passOverOwn() {
        connection.passOverOwn();
    }

    @Override
    boolean settleOutcome() {
        return false;
    }

    @Override
    boolean takes() {
        return false;
    }

    @Override
    void finishTaken() {}
}
