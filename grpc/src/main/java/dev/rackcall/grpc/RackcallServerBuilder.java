package dev.rackcall.grpc;

import com.google.errorprone.annotations.DoNotCall;
import io.grpc.ForwardingServerBuilder;
import io.grpc.ServerBuilder;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.ServerImplBuilder;
import java.io.File;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Builds a gRPC server that clients of this host call over shared memory, and others over RDMA ({@link #listen}):
 *
 * <pre>{@code
 * Server server = RackcallServerBuilder.forChannel("/shop/cart").addService(new CartService()).build().start();
 * }</pre>
 *
 * <p>Services, interceptors, executors and limits are gRPC's own. Over shared memory, the server accepts clients of
 * its own user only. Several servers may serve one channel; gRPC's load balancing at the client chooses among them.
 * Builders are for one thread.
 */
public final class RackcallServerBuilder extends ForwardingServerBuilder<RackcallServerBuilder> {
    private final ServerImplBuilder builder;
    private final List<URI> listens = new ArrayList<>();
    private boolean insecure;
    private URI directory;
    private ConnectionLimits limits = ConnectionLimits.NONE;
    private int maxInboundMessageSize = GrpcUtil.DEFAULT_MAX_MESSAGE_SIZE;
    private int maxInboundMetadataSize = GrpcUtil.DEFAULT_MAX_HEADER_LIST_SIZE;

    private RackcallServerBuilder(RackcallSocketAddress address) {
        builder = new ServerImplBuilder((tracerFactories, metrics) -> new RackcallServer(
                address,
                List.copyOf(listens),
                insecure,
                Optional.ofNullable(directory),
                limits,
                maxInboundMessageSize,
                maxInboundMetadataSize,
                tracerFactories));
    }

    /**
     * A server of a channel in the default runtime folder.
     *
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if the name is invalid
     */
    public static RackcallServerBuilder forChannel(String channel) {
        return forAddress(RackcallSocketAddress.of(channel));
    }

    /**
     * A server at that address of this host.
     *
     * @throws IllegalArgumentException if it is the address of another host; {@link #listen} takes those of servers
     */
    public static RackcallServerBuilder forAddress(RackcallSocketAddress address) {
        if (address.remote().isPresent()) {
            throw new IllegalArgumentException(
                    "no server is at " + address + ": write forChannel(\"" + address.channel()
                            + "\").listen(URI.create(\"" + address.remote().get() + "\"))");
        }
        return new RackcallServerBuilder(address);
    }

    /** Not supported: channels have names instead of ports. */
    @DoNotCall("Use forChannel instead")
    public static RackcallServerBuilder forPort(int port) {
        throw new UnsupportedOperationException("channels have names, not ports such as " + port + "; use forChannel");
    }

    /**
     * Also serves processes that share no memory with this one, at an address such as {@code rdma://0.0.0.0:18515} or
     * {@code soft://0.0.0.0:0}; needs the artifact {@code rackcall-rdma}. May be called several times. {@code
     * Server.getListenSockets()} names the chosen ports.
     *
     * <p>At an address that is not loopback, the server starts only with TLS ({@code RdmaSettings.tls}), or after
     * {@link #insecure}. At a loopback address, it serves every user of this host.
     */
    public RackcallServerBuilder listen(URI address) {
        listens.add(Objects.requireNonNull(address, "address"));
        return this;
    }

    /** Every process that reaches the addresses may call: only trusted hosts reach them. */
    public RackcallServerBuilder insecure() {
        insecure = true;
        return this;
    }

    /**
     * Announces the server in a directory, until it shuts down, with the addresses of {@link #listen}. Needs the module
     * {@code directory}.
     *
     * @param address {@code file:///a/folder}, or {@code zk://host:2181,host:2181} with the module {@code
     *     rackcall-directory-zookeeper}
     */
    public RackcallServerBuilder directory(URI address) {
        directory = Objects.requireNonNull(address, "address");
        return this;
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

    /** Does nothing: the kernel reports a dead client at once. */
    @Override
    public RackcallServerBuilder keepAliveTime(long keepAliveTime, TimeUnit timeUnit) {
        return this;
    }

    /** Does nothing, as {@link #keepAliveTime}. */
    @Override
    public RackcallServerBuilder keepAliveTimeout(long keepAliveTimeout, TimeUnit timeUnit) {
        return this;
    }

    /** Does nothing: clients send nothing to keep a connection alive. */
    @Override
    public RackcallServerBuilder permitKeepAliveTime(long keepAliveTime, TimeUnit timeUnit) {
        return this;
    }

    /** Does nothing, as {@link #permitKeepAliveTime}. */
    @Override
    public RackcallServerBuilder permitKeepAliveWithoutCalls(boolean permit) {
        return this;
    }

    /** Closes connections that have had no call for that time; their clients connect again when they call. */
    @Override
    public RackcallServerBuilder maxConnectionIdle(long maxConnectionIdle, TimeUnit timeUnit) {
        limits = limits.withIdle(positive("maxConnectionIdle", maxConnectionIdle, timeUnit));
        return this;
    }

    /** Moves new calls to a new connection once a connection is this old; see {@link #maxConnectionAgeGrace}. */
    @Override
    public RackcallServerBuilder maxConnectionAge(long maxConnectionAge, TimeUnit timeUnit) {
        limits = limits.withAge(positive("maxConnectionAge", maxConnectionAge, timeUnit));
        return this;
    }

    /** Cancels calls that have not ended that long after {@link #maxConnectionAge}; the default lets them end. */
    @Override
    public RackcallServerBuilder maxConnectionAgeGrace(long maxConnectionAgeGrace, TimeUnit timeUnit) {
        if (maxConnectionAgeGrace < 0) {
            throw new IllegalArgumentException("maxConnectionAgeGrace of " + maxConnectionAgeGrace + " " + timeUnit);
        }
        limits = limits.withGrace(timeUnit.toNanos(maxConnectionAgeGrace));
        return this;
    }

    private static long positive(String name, long value, TimeUnit unit) {
        if (value <= 0) {
            throw new IllegalArgumentException(name + " of " + value + " " + unit + "; it must be positive");
        }
        return unit.toNanos(value);
    }

    /** Not supported: inside a host there is no need, and {@code RdmaSettings.tls} serves {@link #listen}. */
    @Override
    public RackcallServerBuilder useTransportSecurity(File certChain, File privateKey) {
        throw new UnsupportedOperationException(
                "TLS protects no bytes that only two processes of one user share; leave it out, and use RdmaSettings.tls"
                        + " for addresses of listen");
    }

    void setStatsEnabled(boolean value) {
        builder.setStatsEnabled(value);
    }
}
