package dev.rackcall.rpc.balance;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.EndObservers;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A call that picks its subchannel when its arguments are known: for shared objects the subchannel that maps their
 * memory, otherwise the one with the fewest calls. A repeatable call moves to another subchannel if its own fails.
 *
 * <p>Reused by later calls. The subchannel's own call does the rest: slots, seals, answers.
 */
final class RoutedCall extends ClientCall implements RepeatedCall.Attempts {
    /** A call would have to wait for a server on a thread that must not wait. Never leaves this class. */
    private static final class WouldWait extends RuntimeException {
        private static final long serialVersionUID = 1;

        WouldWait() {
            super("would wait for a server", null, false, false);
        }
    }

    private static final int MOST_ATTEMPTS = 3;
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final RoutedConnection connection;
    private final Balancer routes;
    private final RoutedArguments arguments = new RoutedArguments();
    private final List<Subchannel> tried = new ArrayList<>();
    /** Attempts that failed. */
    private int attempts;
    /** Why the last of them failed; null if none has. */
    private RpcException lost;
    /** Whether the call, which was not sent yet, waits for a server until its deadline. */
    private boolean waitsForReady;

    private MethodDescriptor method;
    /** The deadline that the caller has set; 0 if none. */
    private long callerDeadline;
    /** Until when all attempts must have ended. */
    private long deadline;
    /** Whether the call has waited for a server. */
    private boolean hasWaited;

    private Metadata headers = Metadata.EMPTY;
    private Isolation isolation = Isolation.TRUSTED;
    private CallObserver observer = CallObserver.NONE;
    /** The subchannel of the last attempt. */
    private Subchannel last;

    /** Passes the stream that the call sends to the attempt; null if it sends none, or has been passed. */
    private Consumer<ClientCall> sending;

    private Status failure = Status.OK;
    /** The current attempt, whose answer is read; null before it begins. */
    private ClientCall attempt;

    RoutedCall(RoutedConnection connection) {
        this.connection = connection;
        this.routes = connection.balancer();
    }

    void begin(
            MethodDescriptor callee,
            long callDeadline,
            Metadata callHeaders,
            Isolation callIsolation,
            CallObserver callObserver,
            boolean callWaits) {
        waitsForReady = callWaits;
        method = callee;
        callerDeadline = callDeadline;
        hasWaited = false;
        // All attempts share one deadline.
        deadline = callDeadline == 0
                ? System.nanoTime() + routes.spec().defaultTimeout().toNanos()
                : callDeadline;
        headers = callHeaders;
        isolation = callIsolation;
        observer = callObserver;
        failure = Status.OK;
    }

    // ---- encoding

    @Override
    public PayloadWriter arguments() {
        return arguments.writer(connection.objects(method));
    }

    @Override
    public long share(Object sharedObject, String argument) {
        return arguments.share(sharedObject, argument, routes, method);
    }

    @Override
    public <T> void sendStream(Stream<T> elements, ElementWriter<T> writer) {
        sending = inner -> inner.sendStream(elements, writer);
    }

    // ---- attempts

    /**
     * Sends the call over a subchannel, and over another one if that fails and the call may be repeated.
     *
     * @param mayWait whether the thread may wait until there is a server
     * @throws WouldWait if it may not, and there is none
     */
    private <T> T send(boolean mayRepeat, boolean mayWait, Function<ClientCall, T> how) {
        while (true) {
            Subchannel subchannel = mayWait ? subchannel() : present();
            Attempt told = Attempt.begin(subchannel, observer);
            // Servers do not see the channel's default timeout, unless only a part of it is left.
            long seen = last == null && !hasWaited ? callerDeadline : deadline;
            last = subchannel;
            ClientCall inner;
            try {
                inner = subchannel.connection().begin(method, seen, headers, isolation, told);
            } catch (RpcException e) {
                told.endUntold(e.status());
                // Nothing was sent, so any call may try another subchannel.
                RpcException why = wasLeft(subchannel, e) ? leftMeanwhile(subchannel, e) : e;
                // A server of another version may lack the method.
                boolean isMissing = why.code() == Status.Code.UNIMPLEMENTED;
                if (!(isMissing ? mayTryUntried(subchannel, mayWait) : mayTryAnother(subchannel, why))) {
                    // A server that has the method was lost, which says more than that another one lacks it.
                    RpcException reason = isMissing && lost != null ? lost : why;
                    failure = reason.status();
                    throw reason;
                }
                if (waitsForReady && !isMissing) {
                    if (!mayWait) {
                        throw new WouldWait();
                    }
                    LockSupport.parkNanos(RETRY_NANOS);
                }
                continue;
            } catch (RuntimeException | Error e) {
                told.endUntold(notEncoded());
                throw e;
            }
            attempt = inner;
            waitsForReady = false;
            if (method.kind().returnsStream()) {
                subchannel.begunStream(deadline);
            }
            try {
                arguments.handOver(inner);
                if (sending != null) {
                    sending.accept(inner);
                }
                return how.apply(inner);
            } catch (RpcException e) {
                boolean mayRepeatNow = mayRepeat || (sending == null && inner.wasNeverBegun());
                if (!mayRepeatNow || !mayTryAnother(subchannel, e)) {
                    throw e;
                }
                told.tellNobody();
                attempt = null;
                inner.close();
            }
        }
    }

    private Subchannel subchannel() {
        Optional<Subchannel> owner = arguments.bound();
        if (owner.isPresent()) {
            return owner.get();
        }
        hasWaited |= routes.subchannels().length == 0;
        while (true) {
            try {
                Subchannel subchannel = Subchannel.pick(routes.subchannels(deadline), tried);
                return subchannel.isUsable() ? subchannel : Subchannel.pick(routes.await(deadline), tried);
            } catch (RpcException e) {
                if (!mayWait(e)) {
                    failure = e.status();
                    throw e;
                }
            }
            LockSupport.parkNanos(RETRY_NANOS);
        }
    }

    /** As {@link #subchannel}, on a thread that must not wait. */
    private Subchannel present() {
        Optional<Subchannel> owner = arguments.bound();
        if (owner.isPresent()) {
            return owner.get();
        }
        Subchannel[] present = routes.subchannels();
        if (present.length > 0) {
            Subchannel subchannel = Subchannel.pick(present, tried);
            if (subchannel.isUsable()) {
                return subchannel;
            }
        }
        throw new WouldWait();
    }

    private boolean mayWait(RpcException e) {
        return waitsForReady
                && (e.code() == Status.Code.UNAVAILABLE || e.code() == Status.Code.DEADLINE_EXCEEDED)
                && !routes.isClosed()
                && System.nanoTime() - deadline < 0
                && !Thread.currentThread().isInterrupted();
    }

    /** Whether the subchannel was closed because it was replaced, which does not end this channel. */
    private boolean wasLeft(Subchannel subchannel, RpcException e) {
        return e.code() == Status.Code.CANCELLED && !subchannel.isUsable() && !routes.isClosed();
    }

    private RpcException leftMeanwhile(Subchannel subchannel, RpcException e) {
        return Status.Code.UNAVAILABLE
                .with("%s: the connection to %s was closed since calls go elsewhere now", method, subchannel)
                .asException(e);
    }

    private boolean mayTryAnother(Subchannel subchannel, RpcException e) {
        if (!subchannel.isUsable()) {
            routes.noticeEnd();
        }
        if (!waitsForReady) {
            // A call that waits has not been sent, and its deadline bounds it.
            tried.add(subchannel);
            attempts++;
        }
        if (e.code() != Status.Code.UNAVAILABLE) {
            return false;
        }
        lost = e;
        return arguments.bound().isEmpty() && attempts < MOST_ATTEMPTS && System.nanoTime() - deadline < 0;
    }

    /** Not an attempt: this side knows which methods a server has. */
    private boolean mayTryUntried(Subchannel subchannel, boolean mayWait) {
        tried.add(subchannel);
        if (arguments.bound().isPresent()) {
            return false;
        }
        if (routes.hasOther(tried)) {
            return true;
        }
        if (!mayWait) {
            throw new WouldWait();
        }
        try {
            return routes.awaitOther(tried, deadline);
        } catch (RpcException e) {
            failure = e.status();
            throw e;
        }
    }

    @Override
    public PayloadReader invoke() {
        return send(method.idempotent(), true, ClientCall::invoke);
    }

    @Override
    public <T> CompletableFuture<T> invokeAsync(ResultReader<T> reader) {
        if (arguments.bound().isEmpty()) {
            return RepeatedCall.begin(this, reader, observer);
        }
        CompletableFuture<T> result = send(false, false, inner -> inner.invokeAsync(reader));
        finish();
        return result;
    }

    @Override
    public <T> CompletableFuture<T> attemptAsync(ResultReader<T> reader, CallObserver attemptObserver) {
        observer = attemptObserver;
        try {
            return attempt(false, inner -> inner.invokeAsync(reader));
        } catch (WouldWait _) {
            return null;
        }
    }

    @Override
    public <T> CompletableFuture<T> attemptWhenReady(
            ResultReader<T> reader, CallObserver attemptObserver, BooleanSupplier isOver) {
        observer = attemptObserver;
        return attempt(true, inner -> {
            if (isOver.getAsBoolean()) {
                throw Status.Code.CANCELLED
                        .with("%s: its caller completed or cancelled its future before it was sent", method)
                        .asException();
            }
            return inner.invokeAsync(reader);
        });
    }

    private <T> CompletableFuture<T> attempt(boolean mayWait, Function<ClientCall, CompletableFuture<T>> how) {
        try {
            return send(false, mayWait, how);
        } catch (WouldWait e) {
            throw e;
        } catch (RuntimeException | Error e) {
            if (attempt == null) {
                throw e;
            }
            throw attempt.abandon(e);
        } finally {
            attempt = null;
        }
    }

    @Override
    public void whereItMayWait(Runnable sending) {
        // A call that is repeated had its place at its connection.
        boolean isNew = lost == null;
        connection.waitingCalls().start(method, arguments.bytes(), isNew, sending);
    }

    @Override
    public boolean maySendAgain(RpcException e, boolean wasNeverBegun) {
        return mayTryAnother(last, e) && (wasNeverBegun || method.idempotent());
    }

    @Override
    public void invokeOneWay() {
        try {
            sendOneWay(false);
        } catch (WouldWait _) {
            whereItMayWait(() -> {
                try {
                    sendOneWay(true);
                } catch (Throwable t) {
                    // The observer learns of it, which is all that a one-way call reports.
                    var _ = abandon(t);
                }
            });
        }
    }

    private void sendOneWay(boolean mayWait) {
        send(false, mayWait, inner -> {
            inner.invokeOneWay();
            return true;
        });
        finish();
    }

    @Override
    public <T> Stream<T> invokeStream(ResultReader<T> reader) {
        Stream<T> stream = send(method.idempotent(), true, inner -> inner.invokeStream(reader));
        finish();
        return stream;
    }

    // ---- the end

    @Override
    public <T> T shared(Class<T> type, long ref) {
        return attempt.shared(type, ref);
    }

    @Override
    public Metadata trailers() {
        return attempt.trailers();
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
            EndObservers.tell(observer, failure.isOk() ? notEncoded() : failure, Metadata.EMPTY);
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
        EndObservers.tell(observer, thrown instanceof RpcException e ? e.status() : notEncoded(), Metadata.EMPTY);
        return thrown;
    }

    /** Clears everything and returns this object to the connection, for another call. */
    @Override
    public void finish() {
        attempt = null;
        last = null;
        observer = CallObserver.NONE;
        tried.clear();
        attempts = 0;
        lost = null;
        arguments.clear();
        sending = null;
        connection.giveBack(this);
    }
}
