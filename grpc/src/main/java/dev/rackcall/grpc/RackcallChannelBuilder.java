package dev.rackcall.grpc;

import com.google.errorprone.annotations.DoNotCall;
import io.grpc.CallCredentials;
import io.grpc.ChannelCredentials;
import io.grpc.ChannelLogger;
import io.grpc.ForwardingChannelBuilder2;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.TlsChannelCredentials;
import io.grpc.internal.ClientTransportFactory;
import io.grpc.internal.ConnectionClientTransport;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.ManagedChannelImplBuilder;
import io.grpc.internal.SharedResourceHolder;
import java.net.SocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Builds a gRPC channel to a server of this host over shared memory, or of another host over RDMA:
 *
 * <pre>{@code
 * ManagedChannel channel = RackcallChannelBuilder.forChannel("/shop/cart").build();
 * }</pre>
 *
 * <p>{@code Grpc.newChannelBuilder("rackcall:///shop/cart", InsecureChannelCredentials.create())} gives the same.
 * Stubs, interceptors, executors, retries and limits are gRPC's own. Keep-alive is for a {@link #fallback} only: the
 * kernel or the device reports a dead server. Builders are for one thread.
 */
public final class RackcallChannelBuilder extends ForwardingChannelBuilder2<RackcallChannelBuilder> {
    /** Authority of all channels: a channel's name is not a valid host name. */
    static final String AUTHORITY = "localhost";

    private final String target;
    private final ManagedChannelImplBuilder builder;
    /** Settings of the fallback's transport. */
    private final List<Consumer<ManagedChannelBuilder<?>>> settings = new ArrayList<>();

    /** Those of the fallback; null until the application has chosen. */
    private ChannelCredentials credentials;
    /** Null if there is none. */
    private URI fallback;

    private int maxInboundMessageSize = GrpcUtil.DEFAULT_MAX_MESSAGE_SIZE;
    private int maxInboundMetadataSize = GrpcUtil.DEFAULT_MAX_HEADER_LIST_SIZE;

    private RackcallChannelBuilder(String target) {
        this(target, null, null);
    }

    /** The call credentials, which may be null, are those of every call. */
    private RackcallChannelBuilder(String target, CallCredentials ofCalls, ChannelCredentials credentials) {
        FallbackTarget split = FallbackTarget.split(target);
        this.target = split.channel();
        this.credentials = credentials;
        builder = new ManagedChannelImplBuilder(this.target, null, ofCalls, this::factory, this::defaultPort);
        split.fallback().ifPresent(this::setFallback);
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
     * A channel to a target such as {@code rackcall:///shop/cart}, with a {@link #fallback} if it ends in {@code
     * ?fallback=dns:///cart.internal:8443}, or to a target whose name resolver returns {@link
     * RackcallSocketAddress}es.
     */
    public static RackcallChannelBuilder forTarget(String target) {
        return new RackcallChannelBuilder(target);
    }

    /** As {@link #forTarget(String)}, with credentials for every call, which may be null, and for the fallback. */
    static RackcallChannelBuilder forTarget(String target, CallCredentials ofCalls, ChannelCredentials credentials) {
        return new RackcallChannelBuilder(target, ofCalls, credentials);
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

    /**
     * Names where the same service is served over HTTP/2. New calls go there while no Rackcall server of this channel's
     * name runs or is announced; running calls stay where they are. The channel's authority is then that target's. The
     * connections are those of grpc-java's Netty or OkHttp transport, which has to be on the class path, with TLS unless
     * {@link #usePlaintext} is called. For other credentials, {@code Grpc.newChannelBuilder} takes the fallback as a part
     * of the target.
     *
     * @param grpcTarget such as {@code dns:///cart.internal:8443}
     * @throws IllegalArgumentException if no name resolver of gRPC knows its scheme
     */
    public RackcallChannelBuilder fallback(String grpcTarget) {
        setFallback(FallbackTarget.checked(grpcTarget));
        return this;
    }

    private void setFallback(URI checked) {
        if (!FallbackTarget.isOfRackcall(target)) {
            throw new IllegalArgumentException("the target " + target
                    + " has a name resolver of its own, which has to find the fallback, too; a fallback needs a target"
                    + " such as rackcall:///name/of/channel");
        }
        fallback = checked;
        builder.setNameResolverArg(FallbackNameResolver.TARGET, checked);
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
        settings.add(each -> each.maxInboundMessageSize(bytes));
        return this;
    }

    @Override
    public RackcallChannelBuilder maxInboundMetadataSize(int bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("metadata of at most " + bytes + " bytes");
        }
        maxInboundMetadataSize = bytes;
        settings.add(each -> each.maxInboundMetadataSize(bytes));
        return this;
    }

    /**
     * Connects to the fallback without TLS. Otherwise does nothing: the memory belongs to the two processes alone.
     *
     * @throws IllegalStateException if the channel was given other credentials
     */
    @Override
    public RackcallChannelBuilder usePlaintext() {
        if (credentials == null) {
            credentials = InsecureChannelCredentials.create();
        }
        if (!isPlaintext()) {
            throw new IllegalStateException("the channel was given "
                    + credentials.getClass().getSimpleName() + " for its fallback; leave out usePlaintext()");
        }
        return this;
    }

    private boolean isPlaintext() {
        return credentials instanceof InsecureChannelCredentials;
    }

    /** Not supported: bytes leave neither the two processes nor the kernel. */
    @Override
    public RackcallChannelBuilder useTransportSecurity() {
        throw new UnsupportedOperationException(
                "TLS protects no bytes that only two processes of one user share; leave it out");
    }

    /** For the fallback only: the kernel reports a dead server at once. */
    @Override
    public RackcallChannelBuilder keepAliveTime(long keepAliveTime, TimeUnit timeUnit) {
        settings.add(each -> each.keepAliveTime(keepAliveTime, timeUnit));
        return this;
    }

    /** For the fallback only, as {@link #keepAliveTime}. */
    @Override
    public RackcallChannelBuilder keepAliveTimeout(long keepAliveTimeout, TimeUnit timeUnit) {
        settings.add(each -> each.keepAliveTimeout(keepAliveTimeout, timeUnit));
        return this;
    }

    /** For the fallback only, as {@link #keepAliveTime}. */
    @Override
    public RackcallChannelBuilder keepAliveWithoutCalls(boolean enable) {
        settings.add(each -> each.keepAliveWithoutCalls(enable));
        return this;
    }

    void setStatsEnabled(boolean value) {
        builder.setStatsEnabled(value);
    }

    private ClientTransportFactory factory() {
        Optional<ClientTransportFactory> network =
                Optional.ofNullable(fallback).map(each -> NetworkTransports.of(each, fallbackCredentials(), settings));
        return new TransportFactory(maxInboundMessageSize, maxInboundMetadataSize, network);
    }

    private ChannelCredentials fallbackCredentials() {
        return credentials == null ? TlsChannelCredentials.create() : credentials;
    }

    /** Of a fallback that names none. */
    private int defaultPort() {
        return isPlaintext() ? GrpcUtil.DEFAULT_PORT_PLAINTEXT : GrpcUtil.DEFAULT_PORT_SSL;
    }

    private static final class TransportFactory implements ClientTransportFactory {
        private final ScheduledExecutorService scheduler = SharedResourceHolder.get(GrpcUtil.TIMER_SERVICE);
        private final int maxInboundMessageSize;
        private final int maxInboundMetadataSize;
        private final Optional<ClientTransportFactory> network;
        private boolean closed;

        TransportFactory(
                int maxInboundMessageSize, int maxInboundMetadataSize, Optional<ClientTransportFactory> network) {
            this.maxInboundMessageSize = maxInboundMessageSize;
            this.maxInboundMetadataSize = maxInboundMetadataSize;
            this.network = network;
        }

        @Override
        public ConnectionClientTransport newClientTransport(
                SocketAddress address, ClientTransportOptions options, ChannelLogger logger) {
            if (network.isPresent() && !(address instanceof RackcallSocketAddress)) {
                return network.get().newClientTransport(address, options, logger);
            }
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
                network.ifPresent(ClientTransportFactory::close);
                SharedResourceHolder.release(GrpcUtil.TIMER_SERVICE, scheduler);
            }
        }
    }
}
