package dev.rackcall.grpc;

import io.grpc.ChannelCredentials;
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
        if (!(credentials instanceof InsecureChannelCredentials)) {
            return NewChannelBuilderResult.error("Rackcall needs no credentials inside a host, such as "
                    + credentials.getClass().getSimpleName() + "; use InsecureChannelCredentials");
        }
        return NewChannelBuilderResult.channelBuilder(RackcallChannelBuilder.forTarget(target));
    }

    @Override
    protected Collection<Class<? extends SocketAddress>> getSupportedSocketAddressTypes() {
        return List.of(RackcallSocketAddress.class);
    }
}
