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
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * An asynchronous call that began while all slots were taken. Its arguments are encoded into private memory, on the
 * caller's thread, and are copied into a slot by the thread that sends it. Confined to one thread at a time.
 */
final class QueuedCall extends ClientCall {
    /** The connection that the call is made over. */
    interface Over {
        ClientSpec spec();

        CallQueue queue();

        /** The Ref by which the server finds a shared argument. */
        long pass(Object sharedObject, String method, String argument);

        /** Whether any thread may send a call with shared arguments. */
        boolean anyThreadMaySend(Isolation isolation);

        /** A slot for which the calling thread waits. */
        ClientCall claim(long deadline);

        /** Begins the call in a slot that the calling thread holds. */
        void begin(ClientCall slot, QueuedCall call);

        /** Polls for answers on behalf of a thread that waits for the future, at most until {@code end}, a nanoTime. */
        void help(PolledFuture<?> future, long end);

        /** Lets the server skip the slots at which the calling thread encodes other calls. */
        void passOverOwn();

        /** Releases a result that no caller gets. */
        void releaseIfShared(Object result);
    }

    private static final long FIRST_BYTES = 1 << 10;

    final CalledService service;
    final MethodDescriptor method;
    /** nanoTime. */
    final long deadline;

    final CallObserver observer;

    private final Over connection;
    final Metadata headers;
    final Isolation isolation;
    private final PayloadWriter writer;
    private boolean encoding;
    /** Whether a slot has the call and its observer. */
    private boolean handedOver;

    private final List<Object> shared = new ArrayList<>();
    private final List<String> sharedNames = new ArrayList<>();

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
        // The time in the queue counts, so the default time-out also begins now.
        this.deadline = deadline != 0
                ? deadline
                : System.nanoTime() + connection.spec().defaultTimeout().toNanos();
        this.headers = headers;
        this.isolation = isolation;
        this.observer = observer;
        this.writer = PayloadWriter.create(QueuedCall::grow).objects(service);
    }

    private static MemorySegment grow(MemorySegment old, long used, long needed) {
        MemorySegment larger = Arena.ofAuto().allocate(Math.max(FIRST_BYTES, Math.max(needed, 2 * old.byteSize())));
        return larger.copyFrom(old.asSlice(0, used));
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
        shared.add(sharedObject);
        sharedNames.add(argument);
        return connection.pass(sharedObject, method.fullName(), argument);
    }

    /** Bytes of encoded arguments. */
    long bytes() {
        return encoding ? writer.length() : 0;
    }

    /**
     * Whether another thread may send the call. Only the caller's thread can isolate shared arguments, or transfer them
     * to a server with separate memory.
     */
    private boolean mayWait() {
        return shared.isEmpty() || connection.anyThreadMaySend(isolation);
    }

    @Override
    public <T> CompletableFuture<T> invokeAsync(ResultReader<T> reader) {
        if (!mayWait()) {
            return send(connection.claim(deadline), reader);
        }
        QueuedFuture<T> future = new QueuedFuture<>(connection, this, reader);
        connection.queue().add(future);
        return future;
    }

    /** Copies the call into a slot that the calling thread holds, and sends it. Ends it if that fails. */
    <T> CompletableFuture<T> send(ClientCall slot, ResultReader<T> reader) {
        connection.begin(slot, this);
        handedOver = true;
        try {
            if (encoding) {
                slot.arguments().append(writer);
            }
            for (int i = 0; i < shared.size(); i++) {
                slot.share(shared.get(i), sharedNames.get(i));
            }
            return slot.invokeAsync(reader);
        } catch (RuntimeException | Error e) {
            throw slot.abandon(e);
        }
    }

    @Override
    public RpcException rejected(PayloadException cause) {
        return ClientFailure.unsuitableArgument(method.fullName(), cause).asException(cause);
    }

    @Override
    public RuntimeException abandon(Throwable cause) {
        RuntimeException thrown = switch (cause) {
            case PayloadException e -> rejected(e);
            case RuntimeException e -> e;
            default -> ClientFailure.encodingFailed(method.fullName(), cause).asException(cause);
        };
        // Otherwise the slot has told the observer.
        if (!handedOver) {
            end(thrown instanceof RpcException e ? e.status() : ClientFailure.encodingFailed(method.fullName(), cause));
        }
        if (cause instanceof Error error) {
            throw error;
        }
        return thrown;
    }

    /** Reports to the observer the end of a call that was never sent. */
    void end(Status status) {
        EndObservers.tell(observer, status, Metadata.EMPTY);
    }

    // ---- not for asynchronous calls

    private IllegalStateException notAsync() {
        return new IllegalStateException(method + " is not asynchronous, so it cannot wait in a queue");
    }

    @Override
    public PayloadReader invoke() {
        throw notAsync();
    }

    @Override
    public void invokeOneWay() {
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
