package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.EndObservers;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * An asynchronous or one-way call that began while all slots were taken. The caller's thread encodes its arguments into
 * private memory, passes its shared arguments, and enqueues it. The thread that sends it copies it into a slot.
 * Confined to one thread at a time.
 *
 * <p>Only a call with a slot is sealed: its caller's thread changes the pages, and its server opens them. If this call
 * is isolated, the server copies its arguments.
 */
final class QueuedCall extends ClientCall implements CallQueue.Entry {
    /** The connection that the call is made over. */
    interface Over {
        ClientSpec spec();

        CallQueue queue();

        /** For the shared arguments of one call. */
        SentArguments newArguments();

        /** Begins the call in a slot that the calling thread holds. If it throws, the slot was given back. */
        void begin(ClientCall slot, QueuedCall call);

        /** Polls for answers on behalf of a thread that waits for the future, at most until {@code end}, a nanoTime. */
        void help(PolledFuture<?> future, long end);

        /** Called once for each call that began: it is in the queue now, or never will be. */
        void queuedOrAbandoned();

        /** Lets the server skip the slots at which the calling thread encodes other calls. */
        void passOverOwn();
    }

    final CalledService service;
    final MethodDescriptor method;
    /** nanoTime. */
    final long deadline;

    final CallObserver observer;

    private final Over connection;
    final Metadata headers;
    /** How the call is sent. */
    final Isolation isolation;

    private final Isolation asked;
    private final PayloadWriter writer;
    private boolean encoding;
    /** Whether the connection waits for this call to enter the queue. */
    private boolean counted = true;
    /** Null until the first shared argument. */
    private SentArguments shared;
    /** Null if the call is one-way. */
    private QueuedFuture<?> future;
    /** Whether a slot has the call and its observer. */
    private boolean handedOver;

    QueuedCall(
            Over connection,
            CalledService service,
            MethodDescriptor method,
            long deadline,
            Metadata headers,
            Isolation isolation,
            CallObserver observer) {
        this.connection = connection;
        this.service = service;
        this.method = method;
        // The time in the queue counts, so the default timeout also begins now.
        this.deadline = deadline != 0
                ? deadline
                : connection.spec().clock().nanoTime()
                        + connection.spec().defaultTimeout().toNanos();
        this.headers = headers;
        this.asked = isolation;
        this.isolation = isolation == Isolation.TRUSTED ? isolation : Isolation.SNAPSHOT;
        this.observer = observer;
        this.writer = PayloadWriter.create(PayloadWriter.PRIVATE).objects(service);
    }

    @Override
    public PayloadWriter arguments() {
        if (!encoding) {
            encoding = true;
            writer.begin(MemorySegment.NULL);
        }
        return writer;
    }

    @Override
    public long share(Object sharedObject, String argument) {
        if (shared == null) {
            shared = connection.newArguments();
        }
        return shared.share(sharedObject, asked != Isolation.TRUSTED || method.writes(), method(), argument);
    }

    @Override
    public <T> void sendStream(Stream<T> elements, ElementWriter<T> elementWriter) {
        throw new IllegalStateException(method + " sends a stream, and such a call is never asynchronous");
    }

    /** Null if there are none. */
    SentArguments shared() {
        return shared;
    }

    @Override
    public <T> CompletableFuture<T> invokeAsync(ResultReader<T> reader) {
        QueuedFuture<T> result = new QueuedFuture<>(connection, this, reader);
        future = result;
        enqueue();
        return result;
    }

    @Override
    public void invokeOneWay() {
        enqueue();
    }

    private void enqueue() {
        if (shared != null && !shared.isEmpty()) {
            if (method.writes()) {
                // Here, so that the caller of a refused call gets the exception. Checked once more when it is sent.
                shared.requireWritable(method);
            } else {
                shared.requireCopied(asked, method);
            }
        }
        connection.queue().add(this);
        leave();
    }

    private void leave() {
        if (counted) {
            counted = false;
            connection.queuedOrAbandoned();
        }
    }

    // ---- in the queue

    @Override
    public String method() {
        return method.fullName();
    }

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
        return future == null;
    }

    @Override
    public void send(ClientCall slot) {
        try {
            if (future == null) {
                handOver(slot, ClientCall::invokeOneWay);
            } else {
                future.send(slot);
            }
        } catch (RuntimeException | Error e) {
            if (!handedOver) {
                tellEnd(endBy(e));
            }
            if (future == null) {
                return;
            }
            if (e instanceof RpcException) {
                // Once a request is published, only its answer or its connection's end fails it.
                future.failUnsent(e);
            } else {
                future.fail(e);
            }
        }
    }

    /** Copies the call into a slot that the calling thread holds, and sends it. Ends it if that fails. */
    void handOver(ClientCall slot, Consumer<ClientCall> sending) {
        // If this fails, the slot may serve another call already.
        connection.begin(slot, this);
        // From here on the slot tells the observer.
        handedOver = true;
        try {
            if (encoding) {
                slot.arguments().append(writer);
            }
            sending.accept(slot);
        } catch (RuntimeException | Error e) {
            throw slot.abandon(e);
        }
    }

    @Override
    public void end(Status status) {
        tellEnd(status);
        if (future != null) {
            future.failUnsent(status.asException());
        }
    }

    private Status endBy(Throwable cause) {
        return cause instanceof RpcException e ? e.status() : ClientFailure.encodingFailed(method(), cause);
    }

    /** Reports to the observer the end of a call that was never sent. */
    void tellEnd(Status status) {
        EndObservers.tell(observer, status, Metadata.EMPTY);
    }

    // ---- the end of a call that was never queued

    @Override
    public RpcException rejected(PayloadException cause) {
        return ClientFailure.unsuitableArgument(method.fullName(), cause).asException(cause);
    }

    @Override
    public RuntimeException abandon(Throwable cause) {
        leave();
        RuntimeException thrown = switch (cause) {
            case PayloadException e -> rejected(e);
            case RuntimeException e -> e;
            default -> ClientFailure.encodingFailed(method.fullName(), cause).asException(cause);
        };
        if (!handedOver) {
            tellEnd(endBy(thrown));
        }
        if (cause instanceof Error error) {
            throw error;
        }
        return thrown;
    }

    // ---- not for these calls

    private IllegalStateException notAsync() {
        return new IllegalStateException(method + " is neither asynchronous nor one-way, so it cannot wait in a queue");
    }

    @Override
    public PayloadReader invoke() {
        throw notAsync();
    }

    @Override
    public <T> Stream<T> invokeStream(ResultReader<T> reader) {
        throw notAsync();
    }

    @Override
    public <T> T shared(Class<T> type, long ref) {
        throw notAsync();
    }

    @Override
    public void close() {
        // Called by synchronous stubs only.
        throw notAsync();
    }
}
