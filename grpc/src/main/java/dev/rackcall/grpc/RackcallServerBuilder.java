package dev.rackcall.grpc;

import com.google.errorprone.annotations.DoNotCall;
import io.grpc.ForwardingServerBuilder;
import io.grpc.ServerBuilder;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.ServerImplBuilder;
import java.io.File;

/**
 * Builds a gRPC server that clients of this host call over shared memory:
 *
 * <pre>{@code
 * Server server = RackcallServerBuilder.forChannel("/shop/cart").addService(new CartService()).build().start();
 * }</pre>
 *
 * <p>Services, interceptors, executors and limits are gRPC's own. The server accepts clients of its own user only.
 * Several servers may serve one channel; gRPC's load balancing at the client chooses among them. Builders are for one
 * thread.
 */
public final class RackcallServerBuilder extends ForwardingServerBuilder<RackcallServerBuilder> {
    private final ServerImplBuilder builder;
    private int maxInboundMessageSize = GrpcUtil.DEFAULT_MAX_MESSAGE_SIZE;
    private int maxInboundMetadataSize = GrpcUtil.DEFAULT_MAX_HEADER_LIST_SIZE;

    private RackcallServerBuilder(RackcallSocketAddress address) {
        builder = new ServerImplBuilder((tracerFactories, metrics) ->
                new RackcallServer(address, maxInboundMessageSize, maxInboundMetadataSize, tracerFactories));
    }

    /**
     * A server of a channel in the default runtime folder.
     *
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if the name is invalid
     */
    public static RackcallServerBuilder forChannel(String channel) {
        return forAddress(RackcallSocketAddress.of(channel));
    }

    /** A server at that address. */
    public static RackcallServerBuilder forAddress(RackcallSocketAddress address) {
        return new RackcallServerBuilder(address);
    }

    /** Not supported: channels have names instead of ports. */
    @DoNotCall("Use forChannel instead")
    public static RackcallServerBuilder forPort(int port) {
        throw new UnsupportedOperationException("channels have names, not ports such as " + port + "; use forChannel");
    }

    @Override
    protected ServerBuilder<?> delegate() {
        return builder;
    }

    @Override
    public RackcallServerBuilder maxInboundMessageSize(int bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("a message of at most " + bytes + " bytes");
        }
        maxInboundMessageSize = bytes;
        return this;
    }

    @Override
    public RackcallServerBuilder maxInboundMetadataSize(int bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("metadata of at most " + bytes + " bytes");
        }
        maxInboundMetadataSize = bytes;
        return this;
    }

    /** Not supported: bytes leave neither the two processes nor the kernel. */
    @Override
    public RackcallServerBuilder useTransportSecurity(File certChain, File privateKey) {
        throw new UnsupportedOperationException(
                "TLS protects no bytes that only two processes of one user share; leave it out");
    }

    void setStatsEnabled(boolean value) {
        builder.setStatsEnabled(value);
    }
}
