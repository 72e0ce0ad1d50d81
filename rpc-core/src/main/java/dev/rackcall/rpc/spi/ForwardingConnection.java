package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.Pool;
import java.util.List;
import java.util.Optional;

/** A view of a connection: forwards everything to it. Subclasses change what differs, usually how calls begin. */
public abstract class ForwardingConnection extends ClientConnection {
    protected final ClientConnection connection;

    protected ForwardingConnection(ClientConnection connection) {
        this.connection = connection;
    }

    @Override
    public ClientCall begin(
            MethodDescriptor method, long deadline, Metadata headers, Isolation isolation, CallObserver observer) {
        return connection.begin(method, deadline, headers, isolation, observer);
    }

    @Override
    public Route.Kind transport(MethodDescriptor method) {
        return connection.transport(method);
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
    public void awaitReady(long deadline) {
        connection.awaitReady(deadline);
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
    public boolean hasHeldObjects() {
        return connection.hasHeldObjects();
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
    public Optional<ClientConnection> bind(String channel, long deadline) {
        return connection.bind(channel, deadline);
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
