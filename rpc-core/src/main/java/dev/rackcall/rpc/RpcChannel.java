package dev.rackcall.rpc;

import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.Router;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A client's way to one named channel: connects, connects anew when the server was restarted, makes stubs and scopes. Thread-safe.
 *
 * <pre>{@code
 * try (RpcChannel channel = RpcChannel.open("/shop/search")) {
 *     Search search = channel.stub(Search.class);
 *     ...
 * }
 * }</pre>
 *
 * <p>Calls of one connection reach the server in the order in which they were begun. Arguments are encoded after that: an iterator, a getter or a
 * serializer that takes long, or blocks, holds up the calls that other threads begin after it on this channel, at most until their deadlines.
 * Have such values ready before the call. A call that an argument makes while it is encoded is no such case, unless it is left to another thread and
 * waited for there: that call waits for this one, and fails at its deadline.
 *
 * <p>Scopes, and shared objects that calls returned, lie in the connection's memory, which goes when the connection ends: when the channel is
 * closed, its server dies or stops. Reading such an object then throws {@link IllegalStateException} ("Already closed"); copy what has to last.
 */
public final class RpcChannel implements AutoCloseable {
    private static final long DEFAULT_SCOPE_BYTES = 4096;

    private final ClientSpec spec;
    private final List<ClientInterceptor> interceptors;
    private final ChannelConnection connection;

    private RpcChannel(ClientSpec spec, List<ClientInterceptor> interceptors, Optional<Router.Membership> membership) {
        this.spec = spec;
        this.interceptors = interceptors;
        this.connection = new ChannelConnection(spec, membership);
    }

    /**
     * Connects with default settings.
     *
     * @throws RpcException NOT_FOUND if nobody serves the channel, UNAVAILABLE if its server does not answer
     */
    public static RpcChannel open(String channel) {
        return builder(channel).open();
    }

    public static Builder builder(String channel) {
        return new Builder(channel);
    }

    public String name() {
        return spec.channel();
    }

    /** A thread-safe stub with {@link CallOptions#DEFAULT}. */
    public <S> S stub(Class<S> service) {
        return stub(service, CallOptions.DEFAULT);
    }

    /**
     * A thread-safe stub. Stubs cost little; make one per set of options.
     *
     * @throws RpcException FAILED_PRECONDITION if the server was built from another version of the interface
     */
    public <S> S stub(Class<S> service, CallOptions options) {
        ServiceDefinition<S> definition = ServiceDefinition.of(service);
        return definition.stub(new StubCalls(connection, name(), definition, options, interceptors));
    }

    /** A scope in this connection's own arena, invisible to other clients. Belongs to the caller and to its thread. */
    public Scope newScope() {
        return newScope(DEFAULT_SCOPE_BYTES);
    }

    /** A scope that starts with room for {@code firstBytes}; it grows as it is filled. */
    public Scope newScope(long firstBytes) {
        return connection.usable().newScope(firstBytes);
    }

    /**
     * A scope in the arena that the server and all clients of the channel share: what is built there may be handed by the server to other clients. If the server shares no memory with this process,
     * opening, closing and resetting it takes a round trip, others have what was there when something of it was last passed, and they fetch what they read.
     */
    public Scope newSharedScope() {
        return newSharedScope(DEFAULT_SCOPE_BYTES);
    }

    /** A shared scope that starts with room for {@code firstBytes}. */
    public Scope newSharedScope(long firstBytes) {
        return connection.usable().newSharedScope(firstBytes);
    }

    /**
     * Gives back a shared object that a call returned, and everything that the handler allocated for it. Reading {@code result} afterwards is an exception at once, and
     * following a Ref into it once the server has heard of it; parts and containers that were taken from it before must not be used any more. Objects in other places are left alone, and so is what was given back before.
     */
    public void release(Object result) {
        if (!SharedObject.hasLeft(result) && connection.present().release(result)) {
            SharedObject.leave(result);
        }
    }

    /** The ways to the channel's servers, and why calls take one and not the others; none unless it was opened by a directory. */
    public List<Route> routes() {
        return connection.present().routes();
    }

    /**
     * Has calls go by a pool from now on where that is the best way ({@link #routes}), as if the channel had been opened with it; the one that it had is {@linkplain #leavePool left}. Returns before they do.
     *
     * @param pool stays the caller's, who may close it while the channel is open: calls under way by it end with UNAVAILABLE then, later ones go on by the next way
     * @throws RpcException FAILED_PRECONDITION if the channel was opened without a directory, or the pool is closed
     */
    public void usePool(Pool pool) {
        connection.present().changePool(Optional.of(pool));
    }

    /**
     * Has calls that begin from now on go by the next way. Those under way by the channel's pool end there; then, a second at least after this, its memory is left, and what lies in it cannot be read any more. Once
     * {@link #routes} names no way by pool memory that is {@link Route.State#LEAVING}, nothing is lost by closing the pool; what a connection has of a pool that is
     * closed before stays taken until this host is reclaimed. For a channel without a pool this does nothing.
     *
     * @throws RpcException FAILED_PRECONDITION if the channel was opened without a directory
     */
    public void leavePool() {
        connection.present().changePool(Optional.empty());
    }

    /** Ends the connection; calls under way end with CANCELLED, later ones too. Idempotent. */
    @Override
    public void close() {
        connection.close();
    }

    @Override
    public String toString() {
        return "RpcChannel(" + name() + ")";
    }

    /** Collects a channel's settings. */
    public static final class Builder {
        private final String channel;
        private final List<ClientInterceptor> interceptors = new ArrayList<>();
        private Optional<Path> directory = Optional.empty();
        private WaitStrategy waiting = WaitStrategy.adaptive();
        private int slots = 64;
        private OptionalLong arenaQuota = OptionalLong.empty();
        private Duration connectTimeout = Duration.ofSeconds(5);
        private Duration defaultTimeout = Duration.ofSeconds(30);
        private long sealFrom = ClientSpec.DEFAULT_SEAL_FROM;
        private int keepSealed = ClientSpec.DEFAULT_KEEP_SEALED;
        private Optional<Pool> pool = Optional.empty();
        private Optional<URI> address = Optional.empty();
        private Optional<EnforcedSeals> enforcedSeals = Optional.empty();
        private Optional<URI> members = Optional.empty();
        private Optional<String> host = Optional.empty();

        private Builder(String channel) {
            RuntimeDirectory.checkName(channel);
            this.channel = channel;
        }

        /** Adds an interceptor behind those added before. */
        public Builder interceptor(ClientInterceptor interceptor) {
            interceptors.add(Objects.requireNonNull(interceptor, "interceptor"));
            return this;
        }

        /** Where the server's socket lies; see {@link RuntimeDirectory#defaultPath}. */
        public Builder directory(Path value) {
            directory = Optional.of(value);
            return this;
        }

        /** How callers wait; {@link WaitStrategy#adaptive} by default. */
        public Builder waiting(WaitStrategy value) {
            waiting = Objects.requireNonNull(value, "waiting");
            return this;
        }

        /** Calls under way at once, a power of two; 64 by default. */
        public Builder slots(int value) {
            slots = value;
            return this;
        }

        /** Bytes that the connection's arenas may grow to, each; 256 MiB by default; the server may allow less. */
        public Builder arenaQuota(long bytes) {
            arenaQuota = OptionalLong.of(RpcServer.Builder.quota(bytes, "arenaQuota"));
            return this;
        }

        public Builder connectTimeout(Duration value) {
            connectTimeout = Objects.requireNonNull(value, "connectTimeout");
            return this;
        }

        /** Time-out of calls that set none; 30 s by default. The server does not hear of it ({@link RpcContext#deadline}). */
        public Builder defaultTimeout(Duration value) {
            defaultTimeout = Objects.requireNonNull(value, "defaultTimeout");
            return this;
        }

        /**
         * From how many bytes on a call with {@link Isolation#AUTO} seals its arguments' scope, also if that changes from call to call. Smaller ones are
         * copied by the server unless they are found to stay as they are ({@link #keepSealed}), or, from 1 MiB on, calls with them were found to take less time when they are
         * sealed. 64 MiB by default.
         */
        public Builder sealFrom(long bytes) {
            sealFrom = bytes;
            return this;
        }

        /**
         * How many scopes, and pages of 4 KiB of them, stay write-protected after calls that have sealed them, besides the last one; 1,024 by default. The
         * first use of such a scope (a store by one of its objects, an allocation, a reset, a close) opens it; if there is none, its next sealed call
         * costs no system call. With 0 a scope is open as soon as its call has ended: for those who store to it otherwise than by its objects.
         */
        public Builder keepSealed(int scopesOrPages) {
            if (scopesOrPages < 0) {
                throw new IllegalArgumentException("at least 0 scopes can be kept sealed, not " + scopesOrPages);
            }
            keepSealed = scopesOrPages;
            return this;
        }

        /**
         * Connects to a server that serves a pool of several hosts ({@link RpcServer.Builder#pool}), on whichever of them it runs.
         *
         * @param value open as long as the channel, unless that was opened with a directory, see {@link RpcChannel#usePool}; stays the caller's
         */
        public Builder pool(Pool value) {
            pool = Optional.of(value);
            return this;
        }

        /**
         * Connects to a server that shares no memory with this process ({@link RpcServer.Builder#listen}). Calls, results and shared objects are the same; what
         * is passed by pointer is carried over as far as it has changed. The connection's arenas are memory that is
         * used and not only a bound: 16 MiB each by default.
         *
         * @param value {@code rdma://host:port}, {@code soft://host:port} or {@code vq://host:port}, as the server listens; where only one of both hosts has an RDMA device, {@code soft}
         */
        public Builder address(URI value) {
            address = Optional.of(value);
            return this;
        }

        /**
         * Has the seals of this channel's calls held by another process, so that this one cannot lift them, and servers that demand that believe it. Not by
         * default: <b>it restricts the whole process for as long as that lives</b>, see {@link EnforcedSeals}.
         *
         * @param holder the socket of the holder that the server trusts
         * @param wish with {@link Wish#PREFER} the channel has seals of its own, or snapshots, where the server or the host has none; with
         *     {@link Wish#REQUIRE} it does not open (FAILED_PRECONDITION)
         */
        public Builder enforcedSeals(Path holder, Wish wish) {
            enforcedSeals = Optional.of(new EnforcedSeals(holder, wish));
            return this;
        }

        /**
         * Finds the channel's servers in a directory and picks a way to each: memory where both ends reach the same, else RDMA, else the software device over
         * TCP. When a way fails, calls take the next one, and return when it is back; several servers share the calls. Docs: {@code docs/directory.md}.
         *
         * @param value {@code file:///a/folder}, or {@code zk://host:2181,host:2181} with the module {@code directory-zookeeper}
         */
        public Builder directory(URI value) {
            members = Optional.of(value);
            return this;
        }

        /** The name of this host in the directory; {@code RACKCALL_HOST}, or what the kernel says, by default. */
        public Builder host(String value) {
            host = Optional.of(value);
            return this;
        }

        /**
         * Connects.
         *
         * @throws RpcException NOT_FOUND if nobody serves the channel, UNAVAILABLE if its server, or the directory, does not answer
         */
        public RpcChannel open() {
            if (members.isPresent() && address.isPresent()) {
                throw Status.Code.INVALID_ARGUMENT
                        .with(
                                "channel %s: name an address (%s) or a directory (%s), not both",
                                channel, address.get(), members.get())
                        .asException();
            }
            return new RpcChannel(
                    new ClientSpec(
                            channel,
                            directory.orElseGet(RuntimeDirectory::defaultPath),
                            waiting,
                            slots,
                            arenaQuota.orElse(address.isPresent() ? ClientSpec.REMOTE_QUOTA : ClientSpec.NEAR_QUOTA),
                            connectTimeout,
                            defaultTimeout,
                            sealFrom,
                            keepSealed,
                            pool,
                            address,
                            enforcedSeals),
                    List.copyOf(interceptors),
                    members.map(place -> new Router.Membership(place, host.orElseGet(RuntimeDirectory::hostName))));
        }
    }
}
