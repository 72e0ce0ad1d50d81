package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientCall.ResultReader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The future of an asynchronous call that waits, or waited, for a free slot. Cancelling or otherwise completing it
 * removes the call from the queue, or cancels it at the server. As with {@link RpcFuture}, stages run on the thread
 * that waits for this future or on a virtual thread.
 */
final class QueuedFuture<T> extends PolledFuture<T> implements CallQueue.Entry {
    private final QueuedCall.Over connection;
    private final QueuedCall call;
    private final ResultReader<T> reader;
    /** The future of the call that was sent; null while it is queued. */
    private volatile CompletableFuture<T> sent;

    QueuedFuture(QueuedCall.Over connection, QueuedCall call, ResultReader<T> reader) {
        this.connection = connection;
        this.call = call;
        this.reader = reader;
    }

    @Override
    public String method() {
        return call.method.fullName();
    }

    @Override
    public long bytes() {
        return call.bytes();
    }

    @Override
    public long deadline() {
        return call.deadline;
    }

    /** Sends the call in a slot that the calling thread holds. Throws nothing; called once, after it left the queue. */
    @Override
    public void send(ClientCall slot) {
        CompletableFuture<T> inner;
        try {
            inner = call.send(slot, reader);
        } catch (RuntimeException | Error e) {
            Thread.startVirtualThread(() -> super.completeExceptionally(e));
            return;
        }
        sent = inner;
        if (isDone()) {
            // The user completed this future before the field held the other one.
            inner.cancel(true);
        }
        // On a thread of its own: this may be the reactor, and it holds the queue's lock, so it must not run users'
        // stages.
        var _ = inner.whenCompleteAsync(this::answered, Thread::startVirtualThread);
    }

    private void answered(T value, Throwable failure) {
        if (failure != null) {
            super.completeExceptionally(
                    failure instanceof CompletionException && failure.getCause() != null
                            ? failure.getCause()
                            : failure);
        } else if (!super.complete(value)) {
            // No caller sees the result.
            connection.releaseIfShared(value);
        }
    }

    /** Ends a call that has left the queue without having been sent. */
    @Override
    public void end(Status status) {
        call.end(status);
        RpcException failure = status.asException();
        // Stages must not run on the reactor.
        Thread.startVirtualThread(() -> super.completeExceptionally(failure));
    }

    private void abandon(String how) {
        if (connection.queue().remove(this)) {
            call.end(Status.Code.CANCELLED.with("%s: %s by its caller before it was sent", method(), how));
        }
    }

    private void cancelSent() {
        CompletableFuture<T> inner = sent;
        if (inner != null) {
            inner.cancel(true);
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        abandon("cancelled");
        boolean first = super.cancel(mayInterruptIfRunning);
        cancelSent();
        return first;
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        abandon("completed exceptionally");
        boolean first = super.completeExceptionally(failure);
        cancelSent();
        return first;
    }

    @Override
    public boolean complete(T value) {
        abandon("completed");
        boolean first = super.complete(value);
        cancelSent();
        return first;
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
    boolean finish(boolean mine) {
        return false;
    }
}
