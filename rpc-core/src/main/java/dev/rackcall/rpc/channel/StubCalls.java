package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.ByteObserver;
import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.Deadline;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.KryoCodec;
import dev.rackcall.rpc.spi.CallMeters;
import dev.rackcall.rpc.spi.CallThread;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientCalls;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.EndObservers;
import dev.rackcall.rpc.spi.ServiceDefinition;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.BaseStream;

/** Begins the calls of one stub: picks the connection, computes deadline and headers, and calls the interceptors. */
final class StubCalls implements ClientCalls {
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final ChannelConnection channel;
    private final ServiceDefinition<?> definition;
    private final ClientInterceptor[] interceptors;
    private final CallMeters meters;
    private final Metadata headers;
    private final CallObserver observer;
    private final Isolation isolation;
    private final boolean waitsForReady;
    private final long timeoutNanos;
    private final long fixedDeadline;

    /** A connection whose server has this stub's interface, or that converts what differs. */
    private volatile ClientConnection checked;

    StubCalls(
            ChannelConnection channel,
            ServiceDefinition<?> definition,
            CallOptions options,
            List<ClientInterceptor> interceptors,
            CallMeters meters) {
        this.channel = channel;
        this.definition = definition;
        this.interceptors = interceptors.toArray(ClientInterceptor[]::new);
        this.meters = meters;
        this.headers = options.headers();
        this.observer = options.observer();
        this.isolation = options.isolation();
        this.waitsForReady = options.waitsForReady();
        this.timeoutNanos = options.timeout().map(Duration::toNanos).orElse(0L);
        this.fixedDeadline = options.deadline().map(Deadline::nanoTime).orElse(0L);
        adopt(channel.present(), 0);
    }

    /** Waits for a server until the deadline of a call that begins; 0: for the channel's connect timeout. */
    private ClientConnection adopt(ClientConnection connection, long deadline) {
        ClientConnection adapted =
                connection.hasSeveralServers() ? connection : channel.adapted(definition, connection, deadline);
        adapted.use(definition, deadline);
        checked = adapted;
        return adapted;
    }

    @Override
    public boolean isIntercepted() {
        for (ClientInterceptor each : interceptors) {
            try {
                if (each.isEnabled()) {
                    return true;
                }
            } catch (Throwable _) {
                // The intercepted call asks again, and ends with what is thrown.
                return true;
            }
        }
        return false;
    }

    @Override
    public <T> T intercept(MethodDescriptor method, Function<ClientCalls, T> call) {
        return new InterceptedCall<>(this, method, call).run();
    }

    @Override
    public ClientCall begin(MethodDescriptor method) {
        CallObserver measured = measured(method);
        if (measured == CallObserver.NONE) {
            return begin(method, observer);
        }
        ClientCall call = begin(method, CallMeters.both(observer, measured));
        return measured instanceof ByteObserver bytes ? new CountedCall(call, bytes) : call;
    }

    /** A call begins: what observes it for the channel's meters; {@link CallObserver#NONE} if none is enabled. */
    CallObserver measured(MethodDescriptor method) {
        return meters.areEnabled() ? meters.begins(method, checked.transport(method)) : CallObserver.NONE;
    }

    private ClientCall begin(MethodDescriptor method, CallObserver told) {
        try {
            return begin(method, deadline(), headers, told);
        } catch (RpcException e) {
            // The transport tells the observer of calls that have begun only.
            EndObservers.tell(told, e.status(), Metadata.EMPTY);
            throw e.fromCall();
        } catch (RuntimeException | Error e) {
            EndObservers.tell(
                    told, Status.Code.INTERNAL.with("%s: the call could not begin: %s", method, e), Metadata.EMPTY);
            throw e;
        }
    }

    /** When a call that begins now must have ended; 0 for the channel's default timeout. */
    long deadline() {
        long deadline = CallThread.inheritedDeadline();
        if (timeoutNanos != 0) {
            deadline = earlier(deadline, System.nanoTime() + timeoutNanos);
        }
        return fixedDeadline == 0 ? deadline : earlier(deadline, fixedDeadline);
    }

    ClientCall begin(MethodDescriptor method, long deadline, Metadata sent, CallObserver told) {
        boolean isAsynchronous = method.kind().isAsynchronous();
        ClientConnection connection = checked;
        if (isAsynchronous ? channel.queues(connection) : channel.hasQueued()) {
            if (isAsynchronous) {
                return queued(method, deadline, sent, told);
            }
            long end = channel.orDefault(deadline);
            channel.connectingCalls().awaitEarlier(method, end, waitsForReady);
            return connect(method, end, sent, told);
        }
        if (waitsForReady ? connection.isReady() : connection.isUsable()) {
            try {
                return begin(connection, method, deadline, sent, told);
            } catch (RpcException e) {
                if (!wasNotSent(connection, e)) {
                    throw e;
                }
            }
        }
        return isAsynchronous ? queued(method, deadline, sent, told) : connect(method, deadline, sent, told);
    }

    private ClientCall begin(
            ClientConnection connection, MethodDescriptor method, long deadline, Metadata sent, CallObserver told) {
        Isolation how = isolation.or(method.isolation());
        return waitsForReady
                ? connection.beginWhenReady(method, deadline, sent, how, told)
                : connection.begin(method, deadline, sent, how, told);
    }

    /** Whether nothing was sent because the server drains, or because the channel has another connection by now. */
    private boolean wasNotSent(ClientConnection connection, RpcException e) {
        boolean isLost = e.code() == Status.Code.UNAVAILABLE || e.code() == Status.Code.CANCELLED;
        return isLost
                && !connection.isUsable()
                && !channel.isClosed()
                && !Thread.currentThread().isInterrupted();
    }

    /** Begins a call over a new connection. */
    private ClientCall connect(MethodDescriptor method, long deadline, Metadata sent, CallObserver told) {
        long end = channel.orDefault(deadline);
        boolean again = false;
        while (true) {
            ClientConnection connection = null;
            try {
                connection = usable(end);
                if (waitsForReady) {
                    connection.awaitReady(end);
                }
                return begin(connection, method, again ? end : deadline, sent, told);
            } catch (RpcException e) {
                // A server that did not answer in time is one that cannot be reached now.
                boolean isUnreachable =
                        e.code() == Status.Code.UNAVAILABLE || e.code() == Status.Code.DEADLINE_EXCEEDED;
                boolean mayWait = waitsForReady && isUnreachable && !channel.isClosed();
                // Once: a new connection may end at once, too, since some carriers connect to servers that are gone.
                boolean isLeft = !again && connection != null && wasNotSent(connection, e);
                if (!mayWait && !isLeft) {
                    throw e;
                }
                channel.requireTime(method, end, e);
                again = true;
            }
            LockSupport.parkNanos(RETRY_NANOS);
        }
    }

    private ClientConnection usable(long deadline) {
        ClientConnection connection = checked;
        return connection.isUsable() ? connection : adopt(channel.usable(deadline), deadline);
    }

    /** A call whose caller does not wait for a server. */
    private ClientCall queued(MethodDescriptor method, long deadline, Metadata sent, CallObserver told) {
        long end = channel.orDefault(deadline);
        ConnectingCall.Sender sender = new ConnectingCall.Sender() {
            @Override
            public void connect(long until) {
                usable(until).awaitReady(until);
            }

            @Override
            public boolean waitsForReady() {
                return waitsForReady;
            }

            @Override
            public ClientCall begin(CallObserver observer) {
                return StubCalls.this.connect(method, end, sent, observer);
            }
        };
        return new ConnectingCall(
                channel.connectingCalls(), method, end, KryoCodec.of(definition.registered()), sender, told);
    }

    ClientInterceptor[] interceptors() {
        return interceptors;
    }

    Metadata headers() {
        return headers;
    }

    CallObserver observer() {
        return observer;
    }

    /**
     * Drops a result that the caller does not get.
     *
     * @param shared the shared objects in it, if it is neither a future nor a stream
     */
    void discard(Object result, List<Object> shared) {
        switch (result) {
            case Future<?> future -> drop(future);
            case BaseStream<?, ?> stream -> stream.close();
            case null, default -> {
                ClientConnection connection = checked;
                // Any object of the result releases all of it; the others are arguments that came back.
                for (int i = 0; i < shared.size() && !connection.release(shared.get(i)); i++) {}
            }
        }
    }

    private static void drop(Future<?> future) {
        if (!future.cancel(true)
                && future.state() == Future.State.SUCCESS
                && future instanceof ClientCall.Pending answered) {
            answered.drop(future.resultNow());
        }
    }

    /** The earlier of two values of nanoTime; 0 means none. */
    static long earlier(long first, long second) {
        if (first == 0) {
            return second;
        }
        return second == 0 || first - second <= 0 ? first : second;
    }
}
