package dev.rackcall.grpc;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ManagedChannelRegistry;
import io.grpc.internal.ClientTransportFactory;
import java.lang.reflect.Method;
import java.net.URI;
import java.util.List;
import java.util.function.Consumer;

/** Finds grpc-java's own HTTP/2 transport on the class path: Netty, its shaded form, or OkHttp. */
final class NetworkTransports {
    private NetworkTransports() {}

    /**
     * Makes the transports that gRPC's own channel to this target would have; the caller closes them.
     *
     * @param settings of the channel's builder
     * @throws IllegalStateException if there is no transport for these credentials, or not in this version of grpc-java
     */
    static ClientTransportFactory of(
            URI target, ChannelCredentials credentials, List<Consumer<ManagedChannelBuilder<?>>> settings) {
        ManagedChannelBuilder<?> builder;
        try {
            builder = Grpc.newChannelBuilder(target.toString(), credentials);
        } catch (ManagedChannelRegistry.ProviderNotFoundException e) {
            throw new IllegalStateException(
                    "no transport here serves the fallback " + target + "; add grpc-netty-shaded to the class path ("
                            + e.getMessage() + ")",
                    e);
        }
        settings.forEach(each -> each.accept(builder));
        try {
            // Each of the three builders has this method. Calling it by name avoids a dependency on each of them.
            Method method = builder.getClass().getDeclaredMethod("buildTransportFactory");
            method.setAccessible(true);
            return (ClientTransportFactory) method.invoke(builder);
        } catch (ReflectiveOperationException | ClassCastException e) {
            throw new IllegalStateException(
                    "the transport of the fallback " + target + " cannot be had from "
                            + builder.getClass().getName()
                            + "; use grpc-netty-shaded, grpc-netty or grpc-okhttp in the version of grpc-core",
                    e);
        }
    }
}
