package dev.rackcall.rpc.schema;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.KryoCodec;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.pool.Pool;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;

/**
 * A connection as the stubs of one definition use it, to a server of another version. Calls of methods that did not
 * change only get the server's method number; other calls are converted. Thread-safe.
 */
final class AdaptedConnection extends ClientConnection {
    private static final int KEPT_CONVERSIONS = 64;

    private final ClientConnection connection;
    private final IdentityHashMap<MethodDescriptor, AdaptedMethod> methods = new IdentityHashMap<>();
    private final ObjectCodec objects;
    private final MpmcVarHandleArrayQueue<Conversion> idle = new MpmcVarHandleArrayQueue<>(KEPT_CONVERSIONS);

    AdaptedConnection(ClientConnection connection, ServiceDefinition<?> definition, Compatibility compatibility) {
        this.connection = connection;
        this.objects = KryoCodec.of(definition.registered());
        for (MethodDescriptor method : definition.methods()) {
            methods.put(method, AdaptedMethod.of(method, compatibility.plan(method.index())));
        }
    }

    Conversion take() {
        Conversion kept = idle.poll();
        return kept == null ? new Conversion(objects) : kept;
    }

    void give(Conversion conversion) {
        idle.offer(conversion);
    }

    @Override
    public ClientCall begin(
            MethodDescriptor method, long deadline, Metadata headers, Isolation isolation, CallObserver observer) {
        AdaptedMethod adapted = methods.get(method);
        if (adapted == null) {
            // A method of another definition, whose stubs use this connection through a view of their own.
            return connection.begin(method, deadline, headers, isolation, observer);
        }
        if (adapted.isMissing()) {
            throw Status.Code.UNIMPLEMENTED
                    .with(
                            "%s: its server was built from another version of the interface, which has no method '%s';"
                                    + " call it when the server has been upgraded",
                            method.fullName(), method.signature())
                    .asException();
        }
        ClientCall call = connection.begin(adapted.there(), deadline, headers, isolation, observer);
        return adapted.isEncodedAlike() ? call : new AdaptedCall(this, adapted, call);
    }

    @Override
    public boolean isUsable() {
        return connection.isUsable();
    }

    @Override
    public boolean isReady() {
        return connection.isReady();
    }

    @Override
    public boolean hasEnded() {
        return connection.hasEnded();
    }

    @Override
    public void onUnusable(Runnable listener) {
        connection.onUnusable(listener);
    }

    @Override
    public Optional<Status> endCause() {
        return connection.endCause();
    }

    @Override
    public Scope newScope(long firstBytes) {
        return connection.newScope(firstBytes);
    }

    @Override
    public Scope newSharedScope(long firstBytes) {
        return connection.newSharedScope(firstBytes);
    }

    @Override
    public void use(ServiceDefinition<?> definition) {
        connection.use(definition);
    }

    @Override
    public boolean release(Object result) {
        return connection.release(result);
    }

    @Override
    public boolean maps(Object sharedObject) {
        return connection.maps(sharedObject);
    }

    @Override
    public int callsUnderWay() {
        return connection.callsUnderWay();
    }

    @Override
    public List<Route> routes() {
        return connection.routes();
    }

    @Override
    public void changePool(Optional<Pool> pool) {
        connection.changePool(pool);
    }

    @Override
    public Optional<ClientConnection> bind(String channel) {
        return connection.bind(channel);
    }

    @Override
    public ServedInterface service() {
        return connection.service();
    }

    @Override
    public void close() {
        connection.close();
    }
}
