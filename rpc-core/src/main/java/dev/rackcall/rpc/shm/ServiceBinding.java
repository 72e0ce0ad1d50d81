package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.ServerInterceptor;
import dev.rackcall.rpc.runtime.KryoCodec;
import dev.rackcall.rpc.spi.Dispatcher;
import dev.rackcall.rpc.spi.MethodDescriptor;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.codec.ObjectCodec;
import java.util.List;

/** One service of a server, ready to be called: its dispatcher, its methods as an array, the interceptors of the server. */
final class ServiceBinding {
    private final Dispatcher dispatcher;
    private final MethodDescriptor[] methods;
    private final ServerInterceptor[] interceptors;
    private final ObjectCodec objects;
    private final SharedPool shared;
    private final ServerSpec.Service<?> service;

    ServiceBinding(ServerSpec.Service<?> service, List<ServerInterceptor> interceptors, SharedPool shared) {
        this.service = service;
        this.dispatcher = service.dispatcher();
        this.methods = service.definition().methods().toArray(MethodDescriptor[]::new);
        this.interceptors = interceptors.toArray(ServerInterceptor[]::new);
        this.objects = KryoCodec.of(service.definition().registered());
        this.shared = shared;
    }

    String channel() {
        return service.definition().channel();
    }

    ServerSpec.Service<?> service() {
        return service;
    }

    boolean hasMethod(int index) {
        return index < methods.length;
    }

    MethodDescriptor method(int index) {
        return methods[index];
    }

    ObjectCodec objects() {
        return objects;
    }

    /** The arena that all clients of the channel share. */
    SharedPool shared() {
        return shared;
    }

    /** Runs interceptors and handler on the calling thread. */
    void handle(ShmServerCall call) throws Exception {
        if (interceptors.length != 0) {
            CallObserver observer = CallObserver.NONE;
            for (ServerInterceptor interceptor : interceptors) {
                observer = observer.and(interceptor.onCall(call.context()));
                call.observe(observer);
            }
        }
        dispatcher.dispatch(call.methodIndex(), call);
    }
}
