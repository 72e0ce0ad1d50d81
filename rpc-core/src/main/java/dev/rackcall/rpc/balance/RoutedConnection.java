package dev.rackcall.rpc.balance;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.runtime.KryoCodec;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.pool.Pool;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;

/**
 * A channel's lasting connection over changing subchannels. With a single subchannel, a non-repeatable call uses it
 * directly. Other calls are encoded into private memory first: this shows which shared objects they pass before a
 * subchannel is picked, and lets them be sent twice.
 */
public final class RoutedConnection extends ClientConnection {
    private static final int KEPT_CALLS = 64;

    private final Balancer routes;
    private final MpmcVarHandleArrayQueue<RoutedCall> idle = new MpmcVarHandleArrayQueue<>(KEPT_CALLS);
    private final WaitingCalls waitingCalls;
    /** One for each interface for which the channel has stubs. */
    private volatile Used[] used = {};

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Used(Class<?> type, MethodDescriptor[] methods, ObjectCodec objects) {
        boolean has(MethodDescriptor method) {
            return method.index() < methods.length && methods[method.index()] == method;
        }
    }

    /** @param routes owned by this connection, which closes them */
    public RoutedConnection(Balancer routes) {
        this.routes = routes;
        this.waitingCalls = new WaitingCalls(routes.spec());
    }

    Balancer balancer() {
        return routes;
    }

    WaitingCalls waitingCalls() {
        return waitingCalls;
    }

    /** The codec of the objects that a method passes. */
    ObjectCodec objects(MethodDescriptor method) {
        for (Used each : used) {
            if (each.has(method)) {
                return each.objects;
            }
        }
        return ObjectCodec.NONE;
    }

    void giveBack(RoutedCall call) {
        idle.offer(call);
    }

    @Override
    public ClientCall begin(
            MethodDescriptor method, long deadline, Metadata headers, Isolation isolation, CallObserver observer) {
        return begin(method, deadline, headers, isolation, observer, false);
    }

    @Override
    public ClientCall beginWhenReady(
            MethodDescriptor method, long deadline, Metadata headers, Isolation isolation, CallObserver observer) {
        return begin(method, deadline, headers, isolation, observer, true);
    }

    private ClientCall begin(
            MethodDescriptor method,
            long deadline,
            Metadata headers,
            Isolation isolation,
            CallObserver observer,
            boolean waitsForReady) {
        Subchannel single = routes.only(method);
        if (single != null) {
            ClientConnection only = single.connection();
            if (only.isUsable()) {
                try {
                    return only.begin(method, deadline, headers, isolation, observer);
                } catch (RpcException e) {
                    boolean mayGoElsewhere = switch (e.code()) {
                        // Another server may have the method.
                        case UNIMPLEMENTED -> true;
                        // The subchannel has ended, or was closed because it was replaced.
                        case UNAVAILABLE, CANCELLED -> !only.isUsable();
                        default -> false;
                    };
                    if (!mayGoElsewhere) {
                        throw e;
                    }
                }
            }
            if (!only.isUsable()) {
                routes.noticeEnd();
            }
        }
        if (routes.isClosed()) {
            throw routes.spec().closedHere().asException();
        }
        RoutedCall call = idle.poll();
        if (call == null) {
            call = new RoutedCall(this);
        }
        call.begin(method, deadline, headers, isolation, observer, waitsForReady);
        return call;
    }

    @Override
    public Route.Kind transport(MethodDescriptor method) {
        Subchannel single = routes.only(method);
        return single == null ? null : single.connection().transport(method);
    }

    @Override
    public boolean isUsable() {
        return routes.isUsable();
    }

    @Override
    public boolean isReady() {
        for (Subchannel subchannel : routes.subchannels()) {
            if (subchannel.isUsable()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void awaitReady(long deadline) {
        if (!isReady()) {
            routes.await(deadline);
        }
    }

    @Override
    public void onUnusable(Runnable listener) {
        routes.onChange(listener);
    }

    private Subchannel anySubchannel() {
        return Subchannel.pick(
                routes.subchannels(
                        System.nanoTime() + routes.spec().defaultTimeout().toNanos()),
                List.of());
    }

    @Override
    public Scope newScope(long firstBytes) {
        return anySubchannel().newScope(firstBytes, false);
    }

    @Override
    public Scope newSharedScope(long firstBytes) {
        return anySubchannel().newScope(firstBytes, true);
    }

    @Override
    public void use(ServiceDefinition<?> definition) {
        use(definition, 0);
    }

    @Override
    public void use(ServiceDefinition<?> definition, long deadline) {
        long longest = System.nanoTime() + routes.spec().connectTimeout().toNanos();
        routes.use(definition, deadline == 0 || longest - deadline < 0 ? longest : deadline);
        synchronized (this) {
            if (Arrays.stream(used).noneMatch(each -> each.type == definition.type())) {
                Used[] more = Arrays.copyOf(used, used.length + 1);
                more[used.length] = new Used(
                        definition.type(),
                        definition.methods().toArray(MethodDescriptor[]::new),
                        KryoCodec.of(definition.registered()));
                used = more;
            }
        }
    }

    @Override
    public boolean hasSeveralServers() {
        return true;
    }

    @Override
    public boolean release(Object result) {
        return routes.release(result);
    }

    @Override
    public boolean maps(Object sharedObject) {
        return routes.subchannelOf(sharedObject).isPresent();
    }

    @Override
    public int callsUnderWay() {
        int calls = 0;
        for (Subchannel subchannel : routes.openSubchannels()) {
            calls += subchannel.connection().callsUnderWay();
        }
        return calls;
    }

    @Override
    public List<Route> routes() {
        return routes.describe();
    }

    @Override
    public void changePool(Optional<Pool> pool) {
        routes.changePool(pool);
    }

    @Override
    public ServedInterface service() {
        return routes.service();
    }

    @Override
    public void close() {
        routes.close();
    }
}
