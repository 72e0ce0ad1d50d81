package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.Deadline;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.schema.Adaptation;
import dev.rackcall.rpc.spi.CallThread;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientCalls;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ServiceDefinition;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Begins the calls of one stub: picks the connection, computes deadline and headers, and calls the interceptors. */
final class StubCalls implements ClientCalls {
    private static final Logger LOG = LoggerFactory.getLogger(StubCalls.class);

    private final ChannelConnection channel;
    private final String channelName;
    private final ServiceDefinition<?> definition;
    private final ClientInterceptor[] interceptors;
    private final Metadata headers;
    private final Isolation isolation;
    private final long timeoutNanos;
    private final long fixedDeadline;

    /** A connection whose server has this stub's interface, or that converts what differs. */
    private volatile ClientConnection checked;

    StubCalls(
            ChannelConnection channel,
            String channelName,
            ServiceDefinition<?> definition,
            CallOptions options,
            List<ClientInterceptor> interceptors) {
        this.channel = channel;
        this.channelName = channelName;
        this.definition = definition;
        this.interceptors = interceptors.toArray(ClientInterceptor[]::new);
        this.headers = options.headers();
        this.isolation = options.isolation();
        this.timeoutNanos = options.timeout().map(Duration::toNanos).orElse(0L);
        this.fixedDeadline = options.deadline().map(Deadline::nanoTime).orElse(0L);
        adopt(channel.present());
    }

    private ClientConnection adopt(ClientConnection connection) {
        ClientConnection adapted =
                connection.hasSeveralServers() ? connection : Adaptation.adapt(definition, connection, channelName);
        connection.use(definition);
        checked = adapted;
        return adapted;
    }

    @Override
    public ClientCall begin(MethodDescriptor method) {
        long deadline = CallThread.inheritedDeadline();
        if (timeoutNanos != 0) {
            deadline = earlier(deadline, System.nanoTime() + timeoutNanos);
        }
        if (fixedDeadline != 0) {
            deadline = earlier(deadline, fixedDeadline);
        }
        ClientConnection connection = checked;
        if (!connection.isUsable()) {
            connection = adopt(channel.usable(deadline));
        }
        Isolation chosen = isolation.or(method.isolation());
        return interceptors.length == 0
                ? connection.begin(method, deadline, headers, chosen, CallObserver.NONE)
                : beginIntercepted(connection, method, deadline, chosen);
    }

    private ClientCall beginIntercepted(
            ClientConnection connection, MethodDescriptor method, long deadline, Isolation chosen) {
        InterceptedCall call = new InterceptedCall(method, headers, deadline);
        CallObserver observer = CallObserver.NONE;
        try {
            for (ClientInterceptor interceptor : interceptors) {
                observer = observer.and(interceptor.onCall(call));
            }
            return connection.begin(method, call.deadline, call.headers, chosen, observer);
        } catch (RpcException e) {
            tell(observer, e.status());
            throw e;
        } catch (RuntimeException e) {
            Status status = Status.Code.INTERNAL.with("%s: a client interceptor threw %s", method.fullName(), e);
            tell(observer, status);
            throw status.asException(e);
        }
    }

    /** An observer that throws must not hide why the call did not begin. */
    private static void tell(CallObserver observer, Status status) {
        try {
            observer.onClose(status);
        } catch (RuntimeException e) {
            LOG.warn("an interceptor's observer threw {} when it heard {}", e, status, e);
        }
    }

    private static long earlier(long first, long second) {
        if (first == 0) {
            return second;
        }
        return second == 0 || first - second <= 0 ? first : second;
    }

    private static final class InterceptedCall implements ClientInterceptor.Call {
        private final MethodDescriptor method;
        private Metadata headers;
        private long deadline;

        InterceptedCall(MethodDescriptor method, Metadata headers, long deadline) {
            this.method = method;
            this.headers = headers;
            this.deadline = deadline;
        }

        @Override
        public MethodDescriptor method() {
            return method;
        }

        @Override
        public Metadata headers() {
            return headers;
        }

        @Override
        public void addHeaders(Metadata more) {
            headers = headers.with(more);
        }

        @Override
        public void limit(Deadline limit) {
            deadline = earlier(deadline, limit.nanoTime());
        }
    }
}
