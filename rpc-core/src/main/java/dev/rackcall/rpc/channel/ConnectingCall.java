package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.EndObservers;
import dev.rackcall.rpc.spi.FutureThreads;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import dev.rackcall.shm.types.SharedObject;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * An asynchronous or one-way call that began while its channel had no server. The caller's thread encodes its arguments
 * into private memory; the thread of {@link ConnectingCalls} connects and sends it. Confined to one thread at a time.
 */
final class ConnectingCall extends ClientCall implements ConnectingCalls.Entry {
    /** Where the call goes. */
    interface Sender {
        /** Ensures that there is a usable connection, until {@code deadline}, a nanoTime. */
        void connect(long deadline);

        /** Whether the call waits while no server takes clients. */
        boolean waitsForReady();

        /** Begins the call. */
        ClientCall begin(CallObserver observer);
    }

    private record Shared(Object object, String argument) {}

    private final ConnectingCalls queue;
    private final MethodDescriptor method;
    private final long deadline;
    private final Sender sender;
    private final CallObserver observer;
    private final PayloadWriter writer;
    private final List<Shared> shared = new ArrayList<>();
    private boolean encoding;
    /** Null if the call is one-way. */
    private Result<?> result;

    /** @param deadline nanoTime */
    ConnectingCall(
            ConnectingCalls queue,
            MethodDescriptor method,
            long deadline,
            ObjectCodec objects,
            Sender sender,
            CallObserver observer) {
        this.queue = queue;
        this.method = method;
        this.deadline = deadline;
        this.sender = sender;
        this.observer = observer;
        this.writer = PayloadWriter.create(PayloadWriter.PRIVATE).objects(objects);
    }

    @Override
    public PayloadWriter arguments() {
        if (!encoding) {
            encoding = true;
            writer.begin(MemorySegment.NULL);
        }
        return writer;
    }

    /** Whether the server maps the object's memory is known when the call is sent. */
    @Override
    public long share(Object sharedObject, String argument) {
        shared.add(new Shared(sharedObject, argument));
        try {
            return SharedObject.liveRefOf(sharedObject);
        } catch (RefException | IllegalArgumentException | IllegalStateException e) {
            // The connection says what is wrong with it.
            return 0;
        }
    }

    @Override
    public <T> void sendStream(Stream<T> elements, ElementWriter<T> elementWriter) {
        throw new IllegalStateException(method + " sends a stream, and such a call is never asynchronous");
    }

    @Override
    public <T> CompletableFuture<T> invokeAsync(ResultReader<T> reader) {
        Result<T> future = new Result<>(reader);
        result = future;
        queue.add(this);
        var _ = future.whenComplete((_, _) -> future.leave());
        return future;
    }

    @Override
    public void invokeOneWay() {
        queue.add(this);
    }

    // ---- while it waits

    @Override
    public long bytes() {
        return encoding ? writer.length() : 0;
    }

    @Override
    public long deadline() {
        return deadline;
    }

    @Override
    public boolean isOneWay() {
        return result == null;
    }

    @Override
    public String toString() {
        return method.toString();
    }

    @Override
    public boolean waitsForReady() {
        return sender.waitsForReady();
    }

    @Override
    public void connect() {
        sender.connect(deadline);
    }

    @Override
    public void send() {
        if (result == null) {
            send(ClientCall::invokeOneWay);
        } else {
            result.send();
        }
    }

    private void send(Consumer<ClientCall> sending) {
        ClientCall inner;
        try {
            inner = sender.begin(observer);
        } catch (RpcException e) {
            end(e.status());
            return;
        } catch (RuntimeException | Error e) {
            end(Status.Code.INTERNAL.with("%s: the call could not begin: %s", method, e));
            return;
        }
        try {
            if (encoding) {
                inner.arguments().append(writer);
            }
            for (Shared each : shared) {
                inner.share(each.object, each.argument);
            }
            sending.accept(inner);
        } catch (Throwable t) {
            failWith(inner, t);
        }
    }

    /** {@code inner} now owns the observer and notifies it. */
    private void failWith(ClientCall inner, Throwable cause) {
        Throwable failure;
        try {
            failure = inner.abandon(cause);
        } catch (Throwable thrown) {
            failure = thrown;
        }
        if (result != null) {
            result.fail(failure);
        }
    }

    @Override
    public void end(Status status) {
        EndObservers.tell(observer, status, Metadata.EMPTY);
        if (result != null) {
            result.unsent = true;
            result.fail(status.asException());
        }
    }

    /** The future that the caller gets. */
    private final class Result<T> extends CompletableFuture<T> implements Pending {
        private final ResultReader<T> reader;
        /** The future of the call that was sent; null before. */
        private volatile CompletableFuture<T> sent;

        private volatile boolean unsent;

        Result(ResultReader<T> reader) {
            this.reader = reader;
        }

        void send() {
            ConnectingCall.this.send(inner -> follow(inner.invokeAsync(reader)));
        }

        private void follow(CompletableFuture<T> inner) {
            sent = inner;
            if (isDone()) {
                // The caller completed this future before the field held the other one.
                inner.cancel(true);
            }
            // On a thread of its own: this may be the thread that sends the other calls.
            var _ = inner.whenCompleteAsync(this::answered, FutureThreads::run);
        }

        private void answered(T value, Throwable failure) {
            if (failure != null) {
                completeExceptionally(
                        failure instanceof CompletionException && failure.getCause() != null
                                ? failure.getCause()
                                : failure);
            } else if (!complete(value)) {
                drop(value);
            }
        }

        /** Stages must not keep the other calls waiting. */
        void fail(Throwable failure) {
            Throwable marked = failure instanceof RpcException e ? e.fromCall() : failure;
            FutureThreads.run(() -> completeExceptionally(marked));
        }

        /** The caller may have completed it. */
        void leave() {
            if (queue.remove(ConnectingCall.this)) {
                EndObservers.tell(
                        observer,
                        Status.Code.CANCELLED.with(
                                "%s: its caller completed or cancelled its future before it was sent", method),
                        Metadata.EMPTY);
            }
            CompletableFuture<T> inner = sent;
            if (inner != null) {
                // Does nothing if that call ended first.
                inner.cancel(true);
            }
        }

        @Override
        public void drop(Object value) {
            if (sent instanceof Pending answered) {
                answered.drop(value);
            }
        }

        @Override
        public boolean wasNeverBegun() {
            return unsent || (sent instanceof Pending pending && pending.wasNeverBegun());
        }

        /** Dependent stages are ordinary futures. */
        @Override
        public <U> CompletableFuture<U> newIncompleteFuture() {
            return new CompletableFuture<>();
        }
    }

    // ---- a call that was not sent

    @Override
    public RuntimeException abandon(Throwable cause) {
        RuntimeException thrown = switch (cause) {
            case PayloadException e -> rejected(e);
            case RuntimeException e -> e;
            default ->
                Status.Code.INTERNAL
                        .with("%s: its arguments could not be encoded", method)
                        .asException(cause);
        };
        EndObservers.tell(
                observer,
                thrown instanceof RpcException e
                        ? e.status()
                        : Status.Code.INTERNAL.with("%s: its arguments could not be encoded: %s", method, cause),
                Metadata.EMPTY);
        if (cause instanceof Error error) {
            throw error;
        }
        return thrown;
    }

    @Override
    public RpcException rejected(PayloadException cause) {
        return Status.Code.INVALID_ARGUMENT
                .with("%s: %s", method, cause.getMessage())
                .asException(cause);
    }

    // ---- calls of other kinds

    @Override
    public PayloadReader invoke() {
        throw notAsynchronous();
    }

    @Override
    public <T> Stream<T> invokeStream(ResultReader<T> reader) {
        throw notAsynchronous();
    }

    @Override
    public <T> T shared(Class<T> type, long ref) {
        throw notAsynchronous();
    }

    @Override
    public void close() {
        throw notAsynchronous();
    }

    private IllegalStateException notAsynchronous() {
        return new IllegalStateException(method + " is an asynchronous or one-way call");
    }
}
