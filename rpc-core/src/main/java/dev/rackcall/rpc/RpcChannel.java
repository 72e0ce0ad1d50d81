package dev.rackcall.rpc;

import dev.rackcall.shm.EndedMemoryException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * A client's access to one named channel: connects, reconnects when the server was restarted, makes stubs and scopes.
 * It uses all servers of the channel on this host, or in its directory, see {@code docs/servers.md}. Thread-safe.
 *
 * <pre>{@code
 * try (RpcChannel channel = RpcChannel.open("/shop/search")) {
 *     Search search = channel.stub(Search.class);
 *     ...
 * }
 * }</pre>
 *
 * <p>Calls of one connection reach the server in the order in which they begin. That order is fixed before arguments
 * are encoded: a slow iterator, getter or serializer delays the later calls of other threads on this channel, at most
 * until their deadlines. Compute such values before the call. An argument may itself make a call while it is encoded,
 * on the same thread. If the argument waits for another thread's call, that call waits for this one, and fails at its
 * deadline.
 *
 * <p>With several servers, the channel has a connection to each. A scope lies in the memory of one of them, and calls
 * with its objects go to that server. All shared objects of one call must therefore be created in one scope. A
 * {@linkplain #newSharedScope shared scope} is shared with the other clients of that one server.
 *
 * <p>Scopes, and shared objects that calls returned, lie in the connection's memory, which ends with the connection:
 * when the channel is closed, or its server stops or dies. Using such an object then throws an {@link
 * EndedMemoryException}, which names the channel; copy what has to last. A server that shuts down waits for them within
 * its bound. If the channel leaves a server that goes on serving, it keeps the connection for them for at most 30 s.
 */
public interface RpcChannel extends AutoCloseable {
    /** Initial bytes of a scope that is created without a size. */
    long DEFAULT_SCOPE_BYTES = 4096;

    /**
     * Connects with default settings.
     *
     * @throws RpcException NOT_FOUND if no server has the channel, UNAVAILABLE if its server does not answer
     */
    static RpcChannel open(String channel) {
        return builder(channel).open();
    }

    static Builder builder(String channel) {
        return RpcProvider.get().channel(channel);
    }

    /** What a channel does at the moment. */
    enum State {
        /** Its servers are gone, or it was opened lazily and not used yet; the next call connects. */
        IDLE,
        /** A call connects to a server. */
        CONNECTING,
        /** It is connected to a server that takes calls. */
        READY,
        /**
         * The last attempt to connect failed, and the next call tries again. With a directory: its servers are gone, and
         * the channel looks for others by itself.
         */
        TRANSIENT_FAILURE,
        /** It was closed. */
        CLOSED
    }

    String name();

    /** What the channel does at the moment. */
    State state();

    /**
     * Calls {@code listener} after each later change of {@link #state}, in order, on a virtual thread. Very brief
     * states may be skipped. The listener may call, block, and close the channel.
     */
    void onStateChange(Consumer<State> listener);

    /** A thread-safe stub with {@link CallOptions#DEFAULT}. */
    default <S> S stub(Class<S> service) {
        return stub(service, CallOptions.DEFAULT);
    }

    /**
     * A thread-safe stub. Stubs cost little; make one per set of options. The stub may be of another service that the
     * channel's servers have, under the name of its annotation: its calls share the channel's connections.
     *
     * @throws RpcException FAILED_PRECONDITION if the servers were built from another version of the interface, or do
     *     not have the service; PERMISSION_DENIED if this client may not use the other service
     */
    <S> S stub(Class<S> service, CallOptions options);

    /** A scope in this connection's own arena, invisible to other clients. Belongs to the caller and to its thread. */
    default Scope newScope() {
        return newScope(DEFAULT_SCOPE_BYTES);
    }

    /** A scope that starts with room for {@code firstBytes}; it grows as it is filled. */
    Scope newScope(long firstBytes);

    /**
     * A scope in the arena that the server and all clients of the channel share; the server may hand its objects to
     * other clients. If the server shares no memory with this process, opening, closing and resetting the scope takes a
     * round trip. Other clients then read fetched copies, as of the last time that an object of the scope was passed.
     */
    default Scope newSharedScope() {
        return newSharedScope(DEFAULT_SCOPE_BYTES);
    }

    /** A shared scope that starts with room for {@code firstBytes}. */
    Scope newSharedScope(long firstBytes);

    /**
     * Releases a shared object that a call returned, as try-with-resources does if its type is {@link
     * dev.rackcall.shm.types.Releasable}, with everything that the handler allocated for it. Reading {@code
     * result} then fails at once, and following a Ref into it fails once the server has been notified. Parts and
     * containers taken from it before must not be used any more. Does nothing for other objects, and for those already
     * released.
     */
    void release(Object result);

    /**
     * The routes to the channel's servers, and why calls use one and not the others; empty if the channel was opened
     * with an address or a pool, and without a directory.
     */
    List<Route> routes();

    /**
     * Makes later calls use a pool where that is the best route ({@link #routes}), as if the channel had been opened
     * with it. The previous pool is {@linkplain #leavePool left}. Returns before the calls change over.
     *
     * @param pool owned by the caller, which may close it while the channel is open. Calls in flight through the pool
     *     then end with UNAVAILABLE, and later ones use the next route
     * @throws RpcException FAILED_PRECONDITION if the channel was opened without a directory, or the pool is closed
     */
    void usePool(Pool pool);

    /**
     * Makes later calls use the next route. Calls in flight through the channel's pool complete there. After at least a
     * second the pool's memory is left, and its objects cannot be read any more. The pool can be closed without loss
     * once {@link #routes} has no pool route that is {@link Route.State#LEAVING}; if it is closed before, the
     * connection's memory stays taken until this host is reclaimed. Does nothing for a channel without a pool.
     *
     * @throws RpcException FAILED_PRECONDITION if the channel was opened without a directory
     */
    void leavePool();

    /**
     * Ends the connection; calls in flight, and later ones, end with CANCELLED. One-way calls that wait for a free slot
     * are sent first, for up to 1 s for each connection; the log says how many were lost. Idempotent.
     */
    @Override
    void close();

    /** Collects a channel's settings. */
    interface Builder {

        /** Adds an interceptor after those added before. */
        Builder interceptor(ClientInterceptor interceptor);

        /** Adds a meter of all calls. */
        Builder meter(CallMeter meter);

        /**
         * The folder of the sockets of this host's servers. Default: {@code RACKCALL_DIR}, else {@code
         * $XDG_RUNTIME_DIR/rackcall}, else {@code rackcall-<uid>} in the temporary directory.
         */
        Builder runtimeFolder(Path value);

        /** How callers wait; {@link WaitStrategy#adaptive} by default. */
        Builder waiting(WaitStrategy value);

        /**
         * Maximum number of calls in flight, a power of two; 64 by default. Further calls wait for a slot until their
         * deadline, asynchronous and one-way ones in a queue of at most 1,024 calls, without blocking their callers.
         */
        Builder slots(int value);

        /**
         * Maximum size in bytes of each of the connection's arenas: 256 MiB by default, or 16 MiB if both ends share no
         * memory, as over RDMA. The server may allow less.
         */
        Builder arenaQuota(long bytes);

        /** How long connecting to a server may take; 5 s by default. */
        Builder connectTimeout(Duration value);

        /**
         * Makes {@link #open} wait until a server of the channel takes new clients, for example because the client may
         * start first. Zero by default: {@code open} fails at once. For calls of an open channel, see {@link
         * CallOptions#withWaitForReady}.
         */
        Builder waitForReady(Duration value);

        /** Timeout of calls that set none; 30 s by default. Servers need not see it ({@link RpcContext#deadline}). */
        Builder defaultTimeout(Duration value);

        /**
         * Size in bytes from which a call with {@link Isolation#AUTO} always seals a scope; 64 MiB by default. The
         * server copies smaller scopes, unless they do not change between calls ({@link #keepSealed}), or have 1 MiB or
         * more and their sealed calls were measured to be faster.
         */
        Builder sealFrom(long bytes);

        /**
         * Maximum number of scopes, and of their 4 KiB pages, that stay write-protected after sealed calls, besides the
         * last one; 1,024 by default. The first use of such a scope (a store by one of its objects, an allocation, a
         * reset, a close) opens it; if it stays unused, its next sealed call costs no system call. With 0, a scope is
         * open as soon as its call has ended: needed if code writes to the scope other than through its objects.
         */
        Builder keepSealed(int scopesOrPages);

        /**
         * Connects to a server that serves a pool ({@link RpcServer.Builder#pool}), on any of the pool's hosts.
         *
         * @param value owned by the caller; must stay open as long as the channel, unless the channel has a directory,
         *     see {@link RpcChannel#usePool}
         */
        Builder pool(Pool value);

        /**
         * Connects to a server that shares no memory with this process ({@link RpcServer.Builder#listen}). Calls,
         * results and shared objects work the same; the changed parts of objects passed by pointer are transferred. The
         * connection's arenas are reserved in full: 16 MiB each by default.
         *
         * @param value {@code rdma://host:port}, {@code soft://host:port} or {@code vq://host:port}, to match the
         *     server's address; {@code soft} if only one of both hosts has an RDMA device
         */
        Builder address(URI value);

        /**
         * Lets another process hold the seals of this channel's calls. This process cannot lift them, and servers that
         * require such seals accept them. Off by default: <b>it restricts the whole process for its lifetime</b>, see
         * {@link EnforcedSeals}.
         *
         * @param holder the socket of the holder that the server trusts
         * @param wish with {@link Wish#PREFER} the channel uses its own seals, or snapshots, if the server or the host
         *     has no holder; with {@link Wish#REQUIRE} it does not open (FAILED_PRECONDITION)
         */
        Builder enforcedSeals(Path holder, Wish wish);

        /**
         * Finds the channel's servers in a directory and picks a route to each: shared memory where both ends reach it,
         * else RDMA, else the software device over TCP. If a route fails, calls take the next one, and return when it
         * recovers; several servers share the calls. See {@code docs/directory.md}.
         *
         * @param value {@code file:///a/folder}, or {@code zk://host:2181,host:2181} with the module {@code
         *     rackcall-directory-zookeeper}
         */
        Builder directory(URI value);

        /** The name of this host in the directory; {@code RACKCALL_HOST}, or the kernel's, by default. */
        Builder host(String value);

        /**
         * Connects.
         *
         * @throws RpcException NOT_FOUND if no server has the channel, UNAVAILABLE if its server, or the directory,
         *     does not answer
         */
        RpcChannel open();

        /**
         * Opens the channel without connecting, for example because two programs call each other and either may start
         * first. The first call or scope connects; it fails with UNAVAILABLE at once if no server has the channel
         * (unless its stub {@linkplain CallOptions#withWaitForReady waits}), and
         * a call of a stub fails with FAILED_PRECONDITION if the servers were built from another version. {@link
         * #waitForReady} has no effect.
         */
        RpcChannel openLazily();
    }
}
