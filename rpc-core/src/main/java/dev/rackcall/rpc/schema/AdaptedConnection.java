package dev.rackcall.rpc.schema;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.KryoCodec;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ForwardingConnection;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.codec.ObjectCodec;
import java.util.IdentityHashMap;
import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;

/**
 * A connection as the stubs of one definition use it, to a server of another version. Calls of methods that did not
 * change only get the server's method number and the stricter isolation of both; other calls are converted. Thread-safe.
 */
final class AdaptedConnection extends ForwardingConnection {
    private static final int KEPT_CONVERSIONS = 64;

    private final IdentityHashMap<MethodDescriptor, AdaptedMethod> methods = new IdentityHashMap<>();
    private final ObjectCodec objects;
    private final MpmcVarHandleArrayQueue<Conversion> idle = new MpmcVarHandleArrayQueue<>(KEPT_CONVERSIONS);

    AdaptedConnection(ClientConnection connection, ServiceDefinition<?> definition, Compatibility compatibility) {
        super(connection);
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
        // A server that demands more would refuse the call.
        Isolation stricter = AdaptedMethod.stricter(isolation, adapted.there().isolation());
        ClientCall call = connection.begin(adapted.there(), deadline, headers, stricter, observer);
        return adapted.isEncodedAlike() ? call : new AdaptedCall(this, adapted, call);
    }
}
