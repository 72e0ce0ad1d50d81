package dev.rackcall.rpc.schema;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.Pool;
import java.util.List;
import java.util.Optional;

/**
 * A connection over which the stubs of one definition call another service of its server. All other calls go to the
 * services that the connection had before. Thread-safe.
 */
final class OtherService extends ClientConnection {
    private final ClientConnection connection;
    private final ClientConnection other;
    private final Class<?> type;
    private final MethodDescriptor[] methods;

    /** @param other the connection as the definition's stubs use it */
    OtherService(ClientConnection connection, ServiceDefinition<?> definition, ClientConnection other) {
        this.connection = connection;
        this.other = other;
        this.type = definition.type();
        this.methods = definition.methods().toArray(MethodDescriptor[]::new);
    }

    @Override
    public ClientCall begin(
            MethodDescriptor method, long deadline, Metadata headers, Isolation isolation, CallObserver observer) {
        int index = method.index();
        ClientConnection called = index < methods.length && methods[index] == method ? other : connection;
        return called.begin(method, deadline, headers, isolation, observer);
    }

    @Override
    public void use(ServiceDefinition<?> definition) {
        (definition.type() == type ? other : connection).use(definition);
    }

    @Override
    public Optional<ClientConnection> bind(String channel) {
        return connection.bind(channel);
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
    public ServedInterface service() {
        return connection.service();
    }

    @Override
    public void close() {
        connection.close();
    }
}
