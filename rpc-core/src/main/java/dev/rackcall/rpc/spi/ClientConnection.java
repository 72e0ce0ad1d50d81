package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.Pool;
import java.util.List;
import java.util.Optional;

/** One client's use of a channel. Thread-safe. */
public abstract class ClientConnection implements AutoCloseable {
    /**
     * Begins a call. The parts that differ from call to call are parameters rather than an object, so that the common
     * call allocates nothing.
     *
     * @param deadline nanoTime after which the call fails with DEADLINE_EXCEEDED; 0 for the connection's default
     *     timeout
     * @param isolation how shared arguments are kept safe; never {@link Isolation#DEFAULT}
     */
    public abstract ClientCall begin(
            MethodDescriptor method, long deadline, Metadata headers, Isolation isolation, CallObserver observer);

    /**
     * As {@link #begin}. A connection that finds its servers itself waits for one, until the deadline, before the call
     * is sent for the first time.
     */
    public ClientCall beginWhenReady(
            MethodDescriptor method, long deadline, Metadata headers, Isolation isolation, CallObserver observer) {
        return begin(method, deadline, headers, isolation, observer);
    }

    /** How a call that begins now reaches its server; null if that is decided later, or there is no server. */
    public Route.Kind transport(MethodDescriptor method) {
        return null;
    }

    /** Whether new calls may start here: the peer is alive and not draining. */
    public abstract boolean isUsable();

    /**
     * Whether a call would find a server now. A connection that finds its servers itself is usable without a server,
     * too.
     */
    public boolean isReady() {
        return isUsable();
    }

    /**
     * Waits until it {@link #isReady}. Does nothing for a connection that is usable only while it has a server.
     *
     * @param deadline nanoTime
     * @throws dev.rackcall.rpc.RpcException UNAVAILABLE if no server can be reached
     */
    public void awaitReady(long deadline) {}

    /** Whether the connection has ended, so that calls in flight have ended, too. */
    public boolean hasEnded() {
        return !isUsable();
    }

    /**
     * Sets an action to run when the connection becomes unusable or {@link #isReady} changes; runs it at once if the
     * connection is already unusable. Replaces the previous one. It runs on a thread of the runtime, must not block,
     * and may run more than once.
     */
    public void onUnusable(Runnable listener) {}

    /**
     * Why the connection has ended, if a more specific cause than a lost server is known, see {@link Carrier#endCause}.
     * Called only once the connection is not usable.
     */
    public Optional<Status> endCause() {
        return Optional.empty();
    }

    /** A scope in this connection's own arena: invisible to other clients. Belongs to the caller and to its thread. */
    public abstract Scope newScope(long firstBytes);

    /** A scope in the arena that all clients of the channel share. */
    public abstract Scope newSharedScope(long firstBytes);

    /**
     * Names the service of later calls, so that its registered classes can be encoded.
     *
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if it {@link #hasSeveralServers}, and none of them can
     *     be called with this version of the service
     */
    public abstract void use(ServiceDefinition<?> definition);

    /**
     * As {@link #use(ServiceDefinition)}. If it {@link #hasSeveralServers}, it waits for them only until the deadline.
     *
     * @param deadline nanoTime; 0 for the channel's connect timeout
     */
    public void use(ServiceDefinition<?> definition, long deadline) {
        use(definition);
    }

    /**
     * Whether calls go to servers that may have different versions of the service. Such a connection compares and
     * adapts to each of them itself, in {@link #use}.
     */
    public boolean hasSeveralServers() {
        return false;
    }

    /**
     * Releases a shared object that a call returned, with everything allocated for it; does nothing for other objects.
     * Returns whether the object was released.
     */
    public abstract boolean release(Object result);

    /** Whether the server can follow the Ref of a shared object over this connection. False for any other object. */
    public abstract boolean maps(Object sharedObject);

    /** Calls that have begun here and not ended. */
    public abstract int callsUnderWay();

    /** Whether callers hold objects in its memory: open scopes, or results not released. False once it has ended. */
    public boolean hasHeldObjects() {
        return false;
    }

    /** The routes to the channel's servers, if there is a choice. */
    public List<Route> routes() {
        return List.of();
    }

    /**
     * Makes later calls use another pool, or none. Only for connections that choose among routes.
     *
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if this connection does not, or the pool is closed
     */
    public void changePool(Optional<Pool> pool) {
        throw Status.Code.FAILED_PRECONDITION
                .with(
                        "a channel that was opened without a directory has one way only, and keeps its pool; open it with a directory")
                .asException();
    }

    /**
     * This connection as calls to another service of its server use it. Waits for the server's answer.
     *
     * @param channel the service's channel
     * @param deadline nanoTime
     * @return empty if the server has no such service, or serves one service for each connection
     * @throws dev.rackcall.rpc.RpcException PERMISSION_DENIED if this client may not use it,
     *     DEADLINE_EXCEEDED if the server has not answered by then
     */
    public Optional<ClientConnection> bind(String channel, long deadline) {
        return Optional.empty();
    }

    /** The service at the other end. */
    public abstract ServedInterface service();

    /** Ends the connection; calls in flight end with CANCELLED. Idempotent. */
    @Override
    public abstract void close();
}
