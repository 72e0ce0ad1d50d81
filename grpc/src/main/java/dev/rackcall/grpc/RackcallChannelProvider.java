package dev.rackcall.grpc;

import io.grpc.CallCredentials;
import io.grpc.ChannelCredentials;
import io.grpc.CompositeCallCredentials;
import io.grpc.CompositeChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ManagedChannelProvider;
import java.net.SocketAddress;
import java.util.Collection;
import java.util.List;

/** Lets gRPC's own builders accept targets such as {@code rackcall:///shop/cart}; found by the service loader. */
public final class RackcallChannelProvider extends ManagedChannelProvider {
    /** Below those of network transports, which serve all other targets. */
    private static final int PRIORITY = 3;

    @Override
    protected boolean isAvailable() {
        return true;
    }

    @Override
    protected int priority() {
        return PRIORITY;
    }

    @Override
    protected ManagedChannelBuilder<?> builderForAddress(String name, int port) {
        throw new UnsupportedOperationException("channels have names, not ports such as " + port + " of " + name
                + "; use RackcallChannelBuilder.forChannel");
    }

    @Override
    protected ManagedChannelBuilder<?> builderForTarget(String target) {
        return RackcallChannelBuilder.forTarget(target);
    }

    @Override
    protected NewChannelBuilderResult newChannelBuilder(String target, ChannelCredentials credentials) {
        ChannelCredentials own = credentials;
        CallCredentials ofCalls = null;
        while (own instanceof CompositeChannelCredentials composite) {
            // The outer ones are added to those inside.
            ofCalls = ofCalls == null
                    ? composite.getCallCredentials()
                    : new CompositeCallCredentials(composite.getCallCredentials(), ofCalls);
            own = composite.getChannelCredentials();
        }
        boolean hasFallback = FallbackTarget.split(target).fallback().isPresent();
        if (!hasFallback && !(own instanceof InsecureChannelCredentials)) {
            return NewChannelBuilderResult.error(
                    "Rackcall takes no " + own.getClass().getSimpleName()
                            + "; use InsecureChannelCredentials, with call credentials if you need them (memory needs no TLS;"
                            + " RdmaSettings.tls serves targets with ?address= or ?directory=)");
        }
        return NewChannelBuilderResult.channelBuilder(RackcallChannelBuilder.forTarget(target, ofCalls, own));
    }

    @Override
    protected Collection<Class<? extends SocketAddress>> getSupportedSocketAddressTypes() {
        return List.of(RackcallSocketAddress.class);
    }
}
