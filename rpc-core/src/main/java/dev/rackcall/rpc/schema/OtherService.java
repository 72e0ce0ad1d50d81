package dev.rackcall.rpc.schema;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ForwardingConnection;
import dev.rackcall.rpc.spi.ServiceDefinition;

/**
 * A connection over which the stubs of one definition call another service of its server. All other calls go to the
 * services that the connection had before. Thread-safe.
 */
final class OtherService extends ForwardingConnection {
    private final ClientConnection other;
    private final Class<?> type;
    private final MethodDescriptor[] methods;

    /** @param other the connection as the definition's stubs use it */
    OtherService(ClientConnection connection, ServiceDefinition<?> definition, ClientConnection other) {
        super(connection);
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
}
