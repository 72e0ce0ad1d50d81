package dev.rackcall.route;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.MethodDescriptor;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.SharedObject;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A call that picks its line when its arguments are known. What it passes by pointer lies in the memory of one line, which it takes then; otherwise it takes the
 * line with the fewest calls. If it may be repeated and a line fails under it, it takes another.
 *
 * <p>Used by one call after the other. The line's own call does the rest: slots, seals, answers.
 */
final class RoutedCall extends ClientCall {
    private static final int MOST_ATTEMPTS = 3;
    private static final long FIRST_BYTES = 1 << 10;
    private static final long KEPT_BYTES = 64 << 10;

    private final RoutedConnection connection;
    private final ChannelRoutes routes;
    private final PayloadWriter writer = PayloadWriter.create(RoutedCall::grow);
    private final List<Line> tried = new ArrayList<>();
    private final List<Object> shared = new ArrayList<>();
    private final List<String> sharedNames = new ArrayList<>();

    private MemorySegment memory = MemorySegment.NULL;
    private MethodDescriptor method;
    private long deadline;
    private Metadata headers = Metadata.EMPTY;
    private Isolation isolation = Isolation.TRUSTED;
    private CallObserver observer = CallObserver.NONE;
    /** The line whose memory the arguments lie in; null if any will do. */
    private Line bound;

    /** That the last attempt took. */
    private Line last;

    private Status failure = Status.OK;
    private boolean encoding;
    /** The attempt whose answer is being read; null before. */
    private ClientCall attempt;

    RoutedCall(RoutedConnection connection) {
        this.connection = connection;
        this.routes = connection.channelRoutes();
    }

    private static MemorySegment grow(MemorySegment old, long used, long needed) {
        MemorySegment larger = Arena.ofAuto().allocate(Math.max(FIRST_BYTES, Math.max(needed, 2 * old.byteSize())));
        return larger.copyFrom(old.asSlice(0, used));
    }

    void begin(
            MethodDescriptor callee,
            long callDeadline,
            Metadata callHeaders,
            Isolation callIsolation,
            CallObserver callObserver) {
        method = callee;
        // All attempts have one deadline.
        deadline = callDeadline == 0
                ? System.nanoTime() + routes.spec().defaultTimeout().toNanos()
                : callDeadline;
        headers = callHeaders;
        isolation = callIsolation;
        observer = callObserver;
        encoding = false;
        failure = Status.OK;
    }

    // ---- encoding

    @Override
    public PayloadWriter arguments() {
        if (!encoding) {
            encoding = true;
            writer.objects(connection.objects());
            writer.begin(memory);
        }
        return writer;
    }

    @Override
    public long share(Object sharedObject, String argument) {
        shared.add(sharedObject);
        sharedNames.add(argument);
        try {
            Optional<Line> owner = routes.lineOf(sharedObject);
            if (owner.isPresent()) {
                bind(owner.get(), sharedObject, argument);
                return SharedObject.liveRefOf(sharedObject);
            }
        } catch (RefException | IllegalArgumentException | IllegalStateException e) {
            // A line's own call says what is wrong with it, when it is sent.
            return 0;
        }
        return 0;
    }

    private void bind(Line owner, Object sharedObject, String argument) {
        // The channel's shared arena is mapped by several lines to one server.
        if (bound == null) {
            bound = owner;
        } else if (bound != owner && !bound.connection().maps(sharedObject)) {
            throw Status.Code.INVALID_ARGUMENT
                    .with(
                            "%s: argument '%s' lies in the memory of %s, and one before it in that of %s; build all of them in one"
                                    + " channel.newScope()",
                            method, argument, owner, bound)
                    .asException();
        }
    }

    // ---- attempts

    /** Sends the call over a line; over another one if that fails and the call may be repeated. */
    private <T> T send(boolean mayRepeat, Function<ClientCall, T> how) {
        while (true) {
            Line line = line();
            Attempt told = Attempt.begin(line, observer);
            last = line;
            ClientCall inner;
            try {
                inner = line.connection().begin(method, deadline, headers, isolation, told);
            } catch (RpcException e) {
                told.tellNobody();
                told.onClose(e.status());
                // Nothing was sent, so that another line may have it whatever it does.
                RpcException why = wasLeft(line, e) ? leftMeanwhile(line, e) : e;
                if (!mayTryAnother(line, why)) {
                    failure = why.status();
                    throw why;
                }
                continue;
            }
            attempt = inner;
            try {
                handOver(inner);
                return how.apply(inner);
            } catch (RpcException e) {
                if (!mayRepeat || !mayTryAnother(line, e)) {
                    throw e;
                }
                told.tellNobody();
                attempt = null;
                inner.close();
            }
        }
    }

    private Line line() {
        if (bound != null) {
            return bound;
        }
        try {
            Line line = LinePicker.pick(routes.lines(deadline), tried);
            return line.isUsable() ? line : LinePicker.pick(routes.await(deadline), tried);
        } catch (RpcException e) {
            failure = e.status();
            throw e;
        }
    }

    private void handOver(ClientCall inner) {
        if (encoding) {
            inner.arguments().append(writer);
        }
        for (int i = 0; i < shared.size(); i++) {
            inner.share(shared.get(i), sharedNames.get(i));
        }
    }

    /** Whether the line was closed because calls go elsewhere now, which is no end of this channel. */
    private boolean wasLeft(Line line, RpcException e) {
        return e.code() == Status.Code.CANCELLED && !line.isUsable() && !routes.isClosed();
    }

    private RpcException leftMeanwhile(Line line, RpcException e) {
        return Status.Code.UNAVAILABLE
                .with("%s: the connection to %s was closed since calls go elsewhere now", method, line)
                .asException(e);
    }

    private boolean mayTryAnother(Line line, RpcException e) {
        if (!line.isUsable()) {
            routes.noticeEnd();
        }
        tried.add(line);
        return bound == null
                && e.code() == Status.Code.UNAVAILABLE
                && tried.size() < MOST_ATTEMPTS
                && System.nanoTime() - deadline < 0;
    }

    @Override
    public PayloadReader invoke() {
        return send(method.idempotent(), ClientCall::invoke);
    }

    @Override
    public <T> CompletableFuture<T> invokeAsync(ResultReader<T> reader) {
        if (method.idempotent() && bound == null) {
            CallObserver atTheEnd = observer;
            observer = CallObserver.NONE;
            return RepeatedCall.begin(this, reader, atTheEnd);
        }
        CompletableFuture<T> result = send(false, inner -> inner.invokeAsync(reader));
        finish();
        return result;
    }

    /** One attempt of an asynchronous call, whose arguments stay for the next. */
    <T> CompletableFuture<T> attemptAsync(ResultReader<T> reader) {
        try {
            return send(false, inner -> inner.invokeAsync(reader));
        } catch (RuntimeException e) {
            throw attempt == null ? e : attempt.abandon(e);
        } finally {
            attempt = null;
        }
    }

    /** After an attempt of an asynchronous call has failed. */
    boolean maySendAgain(RpcException e) {
        return mayTryAnother(last, e);
    }

    @Override
    public void invokeOneWay() {
        send(false, inner -> {
            inner.invokeOneWay();
            return true;
        });
        finish();
    }

    @Override
    public <T> Stream<T> invokeStream(ResultReader<T> reader) {
        Stream<T> stream = send(method.idempotent(), inner -> inner.invokeStream(reader));
        finish();
        return stream;
    }

    // ---- the end

    @Override
    public <T> T shared(Class<T> type, long ref) {
        return attempt.shared(type, ref);
    }

    @Override
    public RpcException rejected(PayloadException cause) {
        if (attempt != null) {
            return attempt.rejected(cause);
        }
        failure = Status.Code.INVALID_ARGUMENT.with("%s: %s", method, cause.getMessage());
        return failure.asException(cause);
    }

    private Status notEncoded() {
        return Status.Code.INTERNAL.with("%s: its arguments could not be encoded", method);
    }

    @Override
    public void close() {
        if (attempt != null) {
            attempt.close();
        } else {
            observer.onClose(failure.isOk() ? notEncoded() : failure);
        }
        finish();
    }

    @Override
    public RuntimeException abandon(Throwable cause) {
        RuntimeException thrown = attempt != null ? attempt.abandon(cause) : notSent(cause);
        finish();
        if (cause instanceof Error error) {
            throw error;
        }
        return thrown;
    }

    private RuntimeException notSent(Throwable cause) {
        RuntimeException thrown = switch (cause) {
            case PayloadException e -> rejected(e);
            case OutOfArenaException e ->
                Status.Code.RESOURCE_EXHAUSTED
                        .with("%s: %s", method, e.getMessage())
                        .asException(e);
            case RuntimeException e -> e;
            default -> notEncoded().asException(cause);
        };
        observer.onClose(thrown instanceof RpcException e ? e.status() : notEncoded());
        return thrown;
    }

    /** Forgets everything; the object may serve another call from now on. */
    void finish() {
        if (encoding && writer.buffer().byteSize() <= KEPT_BYTES) {
            memory = writer.buffer();
        }
        attempt = null;
        last = null;
        bound = null;
        observer = CallObserver.NONE;
        tried.clear();
        shared.clear();
        sharedNames.clear();
        connection.giveBack(this);
    }
}
