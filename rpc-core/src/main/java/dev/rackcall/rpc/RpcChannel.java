package dev.rackcall.rpc;

import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

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
public interface RpcChannel extends AutoCloseable {
    /** First bytes of a scope that names no size. */
    long DEFAULT_SCOPE_BYTES = 4096;

    /**
     * Connects with default settings.
     *
     * @throws RpcException NOT_FOUND if nobody serves the channel, UNAVAILABLE if its server does not answer
     */
    static RpcChannel open(String channel) {
        return builder(channel).open();
    }

    static Builder builder(String channel) {
        return RpcProvider.get().channel(channel);
    }

    String name();

    /** A thread-safe stub with {@link CallOptions#DEFAULT}. */
    default <S> S stub(Class<S> service) {
        return stub(service, CallOptions.DEFAULT);
    }

    /**
     * A thread-safe stub. Stubs cost little; make one per set of options.
     *
     * @throws RpcException FAILED_PRECONDITION if the server was built from another version of the interface
     */
    <S> S stub(Class<S> service, CallOptions options);

    /** A scope in this connection's own arena, invisible to other clients. Belongs to the caller and to its thread. */
    default Scope newScope() {
        return newScope(DEFAULT_SCOPE_BYTES);
    }

    /** A scope that starts with room for {@code firstBytes}; it grows as it is filled. */
    Scope newScope(long firstBytes);

    /**
     * A scope in the arena that the server and all clients of the channel share: what is built there may be handed by the server to other clients. If the server shares no memory with this process,
     * opening, closing and resetting it takes a round trip, others have what was there when something of it was last passed, and they fetch what they read.
     */
    default Scope newSharedScope() {
        return newSharedScope(DEFAULT_SCOPE_BYTES);
    }

    /** A shared scope that starts with room for {@code firstBytes}. */
    Scope newSharedScope(long firstBytes);

    /**
     * Gives back a shared object that a call returned, and everything that the handler allocated for it. Reading {@code result} afterwards is an exception at once, and
     * following a Ref into it once the server has heard of it; parts and containers that were taken from it before must not be used any more. Objects in other places are left alone, and so is what was given back before.
     */
    void release(Object result);

    /** The ways to the channel's servers, and why calls take one and not the others; none unless it was opened by a directory. */
    List<Route> routes();

    /**
     * Has calls go by a pool from now on where that is the best way ({@link #routes}), as if the channel had been opened with it; the one that it had is {@linkplain #leavePool left}. Returns before they do.
     *
     * @param pool stays the caller's, who may close it while the channel is open: calls under way by it end with UNAVAILABLE then, later ones go on by the next way
     * @throws RpcException FAILED_PRECONDITION if the channel was opened without a directory, or the pool is closed
     */
    void usePool(Pool pool);

    /**
     * Has calls that begin from now on go by the next way. Those under way by the channel's pool end there; then, a second at least after this, its memory is left, and what lies in it cannot be read any more. Once
     * {@link #routes} names no way by pool memory that is {@link Route.State#LEAVING}, nothing is lost by closing the pool; what a connection has of a pool that is
     * closed before stays taken until this host is reclaimed. For a channel without a pool this does nothing.
     *
     * @throws RpcException FAILED_PRECONDITION if the channel was opened without a directory
     */
    void leavePool();

    /** Ends the connection; calls under way end with CANCELLED, later ones too. Idempotent. */
    @Override
    void close();

    /** Collects a channel's settings. */
    interface Builder {

        /** Adds an interceptor behind those added before. */
        Builder interceptor(ClientInterceptor interceptor);

        /** The directory of the server's socket: {@code RACKCALL_DIR} by default, else {@code $XDG_RUNTIME_DIR/rackcall}, else {@code rackcall-<uid>} in the temporary directory. */
        Builder directory(Path value);

        /** How callers wait; {@link WaitStrategy#adaptive} by default. */
        Builder waiting(WaitStrategy value);

        /** Calls under way at once, a power of two; 64 by default. */
        Builder slots(int value);

        /** Bytes that the connection's arenas may grow to, each; 256 MiB by default; the server may allow less. */
        Builder arenaQuota(long bytes);

        Builder connectTimeout(Duration value);

        /** Time-out of calls that set none; 30 s by default. The server does not hear of it ({@link RpcContext#deadline}). */
        Builder defaultTimeout(Duration value);

        /**
         * From how many bytes on a call with {@link Isolation#AUTO} seals its arguments' scope, also if that changes from call to call. Smaller ones are
         * copied by the server unless they are found to stay as they are ({@link #keepSealed}), or, from 1 MiB on, calls with them were found to take less time when they are
         * sealed. 64 MiB by default.
         */
        Builder sealFrom(long bytes);

        /**
         * How many scopes, and pages of 4 KiB of them, stay write-protected after calls that have sealed them, besides the last one; 1,024 by default. The
         * first use of such a scope (a store by one of its objects, an allocation, a reset, a close) opens it; if there is none, its next sealed call
         * costs no system call. With 0 a scope is open as soon as its call has ended: for those who store to it otherwise than by its objects.
         */
        Builder keepSealed(int scopesOrPages);

        /**
         * Connects to a server that serves a pool of several hosts ({@link RpcServer.Builder#pool}), on whichever of them it runs.
         *
         * @param value open as long as the channel, unless that was opened with a directory, see {@link RpcChannel#usePool}; stays the caller's
         */
        Builder pool(Pool value);

        /**
         * Connects to a server that shares no memory with this process ({@link RpcServer.Builder#listen}). Calls, results and shared objects are the same; what
         * is passed by pointer is carried over as far as it has changed. The connection's arenas are memory that is
         * used and not only a bound: 16 MiB each by default.
         *
         * @param value {@code rdma://host:port}, {@code soft://host:port} or {@code vq://host:port}, as the server listens; where only one of both hosts has an RDMA device, {@code soft}
         */
        Builder address(URI value);

        /**
         * Has the seals of this channel's calls held by another process, so that this one cannot lift them, and servers that demand that believe it. Not by
         * default: <b>it restricts the whole process for as long as that lives</b>, see {@link EnforcedSeals}.
         *
         * @param holder the socket of the holder that the server trusts
         * @param wish with {@link Wish#PREFER} the channel has seals of its own, or snapshots, where the server or the host has none; with
         *     {@link Wish#REQUIRE} it does not open (FAILED_PRECONDITION)
         */
        Builder enforcedSeals(Path holder, Wish wish);

        /**
         * Finds the channel's servers in a directory and picks a way to each: memory where both ends reach the same, else RDMA, else the software device over
         * TCP. When a way fails, calls take the next one, and return when it is back; several servers share the calls. Docs: {@code docs/directory.md}.
         *
         * @param value {@code file:///a/folder}, or {@code zk://host:2181,host:2181} with the module {@code directory-zookeeper}
         */
        Builder directory(URI value);

        /** The name of this host in the directory; {@code RACKCALL_HOST}, or what the kernel says, by default. */
        Builder host(String value);

        /**
         * Connects.
         *
         * @throws RpcException NOT_FOUND if nobody serves the channel, UNAVAILABLE if its server, or the directory, does not answer
         */
        RpcChannel open();
    }
}
