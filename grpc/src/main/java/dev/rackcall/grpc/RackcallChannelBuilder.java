package dev.rackcall.grpc;

import com.google.errorprone.annotations.DoNotCall;
import io.grpc.CallCredentials;
import io.grpc.ChannelCredentials;
import io.grpc.ChannelLogger;
import io.grpc.ForwardingChannelBuilder2;
import io.grpc.ManagedChannelBuilder;
import io.grpc.internal.ClientTransportFactory;
import io.grpc.internal.ConnectionClientTransport;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.ManagedChannelImplBuilder;
import io.grpc.internal.SharedResourceHolder;
import java.net.SocketAddress;
import java.net.URI;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Builds a gRPC channel to a server of this host over shared memory, or of another host over RDMA:
 *
 * <pre>{@code
 * ManagedChannel channel = RackcallChannelBuilder.forChannel("/shop/cart").build();
 * }</pre>
 *
 * <p>{@code Grpc.newChannelBuilder("rackcall:///shop/cart", InsecureChannelCredentials.create())} gives the same.
 * Stubs, interceptors, executors, retries and limits are gRPC's own. Keep-alive does nothing: the kernel or the device
 * reports a dead server. Builders are for one thread.
 */
public final class RackcallChannelBuilder extends ForwardingChannelBuilder2<RackcallChannelBuilder> {
    /** Authority of all channels: a channel's name is not a valid host name. */
    static final String AUTHORITY = "localhost";

    private final ManagedChannelImplBuilder builder;
    private int maxInboundMessageSize = GrpcUtil.DEFAULT_MAX_MESSAGE_SIZE;
    private int maxInboundMetadataSize = GrpcUtil.DEFAULT_MAX_HEADER_LIST_SIZE;

    private RackcallChannelBuilder(String target) {
        this(target, null);
    }

    /** The call credentials, which may be null, are those of every call. */
    private RackcallChannelBuilder(String target, CallCredentials credentials) {
        builder = new ManagedChannelImplBuilder(target, null, credentials, this::factory, null);
    }

    /**
     * A channel to the servers of that name in the default runtime folder. Calls go to one of them, or in turn to all
     * with {@code defaultLoadBalancingPolicy("round_robin")}.
     *
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if the name is invalid
     */
    public static RackcallChannelBuilder forChannel(String channel) {
        return forAddress(RackcallSocketAddress.of(channel));
    }

    /** A channel to the servers at that address. */
    public static RackcallChannelBuilder forAddress(RackcallSocketAddress address) {
        return new RackcallChannelBuilder(address.target());
    }

    /**
     * A channel to a target such as {@code rackcall:///shop/cart}, or to a target whose name resolver returns {@link
     * RackcallSocketAddress}es.
     */
    public static RackcallChannelBuilder forTarget(String target) {
        return new RackcallChannelBuilder(target);
    }

    /** As {@link #forTarget(String)}, with these credentials for every call, unless they are null. */
    static RackcallChannelBuilder forTarget(String target, CallCredentials credentials) {
        return new RackcallChannelBuilder(target, credentials);
    }

    /**
     * A channel to the servers of that name which a directory announces, as {@code RackcallServerBuilder.directory}
     * does: over memory to a server in this process's runtime folder, and over its addresses to another. Needs the
     * artifact {@code rackcall-directory}, and {@code rackcall-rdma} to reach other hosts.
     *
     * @param directory as given to the server
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if the name is invalid
     */
    public static RackcallChannelBuilder forDirectory(String channel, URI directory) {
        return new RackcallChannelBuilder(RackcallSocketAddress.targetOf(channel, directory));
    }

    /** Not supported: channels have names instead of ports. */
    @DoNotCall("Use forChannel instead")
    public static RackcallChannelBuilder forAddress(String name, int port) {
        throw new UnsupportedOperationException(
                "channels have names, not ports such as " + port + " of " + name + "; use forChannel");
    }

    @Override
    protected ManagedChannelBuilder<?> delegate() {
        return builder;
    }

    @Override
    public RackcallChannelBuilder maxInboundMessageSize(int bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("a message of at most " + bytes + " bytes");
        }
        maxInboundMessageSize = bytes;
        return this;
    }

    @Override
    public RackcallChannelBuilder maxInboundMetadataSize(int bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("metadata of at most " + bytes + " bytes");
        }
        maxInboundMetadataSize = bytes;
        return this;
    }

    /** Does nothing: the memory belongs to the two processes alone. */
    @Override
    public RackcallChannelBuilder usePlaintext() {
        return this;
    }

    /** Not supported: bytes leave neither the two processes nor the kernel. */
    @Override
    public RackcallChannelBuilder useTransportSecurity() {
        throw new UnsupportedOperationException(
                "TLS protects no bytes that only two processes of one user share; leave it out");
    }

    /** Does nothing: the kernel reports a dead server at once. */
    @Override
    public RackcallChannelBuilder keepAliveTime(long keepAliveTime, TimeUnit timeUnit) {
        return this;
    }

    /** Does nothing, as {@link #keepAliveTime}. */
    @Override
    public RackcallChannelBuilder keepAliveTimeout(long keepAliveTimeout, TimeUnit timeUnit) {
        return this;
    }

    /** Does nothing, as {@link #keepAliveTime}. */
    @Override
    public RackcallChannelBuilder keepAliveWithoutCalls(boolean enable) {
        return this;
    }

    void setStatsEnabled(boolean value) {
        builder.setStatsEnabled(value);
    }

    private ClientTransportFactory factory() {
        return new TransportFactory(maxInboundMessageSize, maxInboundMetadataSize);
    }

    private static final class TransportFactory implements ClientTransportFactory {
        private final ScheduledExecutorService scheduler = SharedResourceHolder.get(GrpcUtil.TIMER_SERVICE);
        private final int maxInboundMessageSize;
        private final int maxInboundMetadataSize;
        private boolean closed;

        TransportFactory(int maxInboundMessageSize, int maxInboundMetadataSize) {
            this.maxInboundMessageSize = maxInboundMessageSize;
            this.maxInboundMetadataSize = maxInboundMetadataSize;
        }

        @Override
        public ConnectionClientTransport newClientTransport(
                SocketAddress address, ClientTransportOptions options, ChannelLogger logger) {
            return new RackcallClientTransport(
                    (RackcallSocketAddress) address,
                    options.getAuthority(),
                    options.getUserAgent(),
                    options.getEagAttributes(),
                    maxInboundMessageSize,
                    maxInboundMetadataSize);
        }

        @Override
        public ScheduledExecutorService getScheduledExecutorService() {
            return scheduler;
        }

        @Override
        public SwapChannelCredentialsResult swapChannelCredentials(ChannelCredentials credentials) {
            return null;
        }

        @Override
        public Collection<Class<? extends SocketAddress>> getSupportedSocketAddressTypes() {
            return List.of(RackcallSocketAddress.class);
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                SharedResourceHolder.release(GrpcUtil.TIMER_SERVICE, scheduler);
            }
        }
    }
}
