package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.runtime.KryoCodec;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ForwardingConnection;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;

/** A connection as calls to another service of its server use it. Lives as long as the connection. Thread-safe. */
final class ServiceConnection extends ForwardingConnection {
    /** What begins the calls. */
    interface Base {
        /** As {@link ClientConnection#begin}, for that service. */
        ClientCall begin(
                CalledService service,
                MethodDescriptor method,
                long deadline,
                Metadata headers,
                Isolation isolation,
                CallObserver observer);
    }

    private final Base base;
    private final CalledService service;

    ServiceConnection(ClientConnection connection, Base base, CalledService service) {
        super(connection);
        this.base = base;
        this.service = service;
    }

    @Override
    public ClientCall begin(
            MethodDescriptor method, long deadline, Metadata headers, Isolation isolation, CallObserver observer) {
        return base.begin(service, method, deadline, headers, isolation, observer);
    }

    @Override
    public void use(ServiceDefinition<?> definition) {
        service.use(KryoCodec.of(definition.registered()));
    }

    @Override
    public ServedInterface service() {
        return service.served;
    }
}
