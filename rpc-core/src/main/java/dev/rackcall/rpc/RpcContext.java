package dev.rackcall.rpc;

import dev.rackcall.shm.Scope;
import java.util.Optional;

/**
 * A handler's view of its call. Obtained by {@link #current} on the handler's thread; may be kept, passed on, and read
 * after the call has ended.
 */
public interface RpcContext {
    /** The call that the current thread serves, empty outside a handler. */
    static Optional<RpcContext> current() {
        return RpcProvider.get().currentCall();
    }

    MethodDescriptor method();

    /** The caller's headers. */
    Metadata headers();

    /**
     * When the caller stops waiting, if its call has set or inherited a deadline; calls that the handler makes inherit
     * it. A channel's default timeout is set only if the call was repeated or had to wait: callers of a service whose handlers
     * make calls should set {@link CallOptions#withTimeout}.
     */
    Optional<Deadline> deadline();

    /**
     * Whether the caller has cancelled or died, or its deadline has passed. Once this is true, the handler may return
     * anything: the call ends as cancelled or with DEADLINE_EXCEEDED.
     */
    boolean isCancelled();

    /**
     * Runs {@code action} once when the caller cancels or dies, on a thread that may block; if that has already
     * happened, runs it at once on the calling thread. Several actions run in the order in which they were given. Not
     * called after the call has ended.
     */
    void onCancel(Runnable action);

    /**
     * Calls {@code observer} when the call ends at this server, or at once if it has ended. A call that returns a
     * {@code Stream} ends with the stream.
     */
    void onEnd(CallObserver observer);

    /**
     * Tells {@code observer} how many bytes this call copies: the arguments, with the result, once it has been answered;
     * elements of streams as they are decoded and encoded. A server does not know how many bytes the scopes of its
     * arguments hold, so it always reports 0 bytes by pointer. Elements that the caller sends count only if this is
     * called before the handler asks for them, so by an interceptor. No effect once the call has ended. Only for the
     * handler's thread during the call.
     */
    void onBytes(ByteObserver observer);

    /**
     * Adds trailers, which the caller's {@link CallObserver} gets with the answer, whether the call succeeds or fails.
     * A stream's next answer carries them. No effect once the call has ended.
     *
     * @throws IllegalArgumentException if all trailers of the call together are too large, see {@link Metadata}
     */
    void addTrailers(Metadata trailers);

    Peer peer();

    /** How the call has reached this server. */
    Route.Kind transport();

    /**
     * The scope for shared objects that the handler returns by pointer. They belong to the caller, which releases them
     * with {@code RpcChannel.release}; if the call fails, the scope is closed. Only for the handler's thread during the
     * call: allocate the shared objects of a {@code Stream} before the method returns.
     */
    Scope replyScope();

    /**
     * The scope for shared objects that the handler needs only during the call: no caller sees this memory, which is
     * freed when the call ends. Its objects may refer to each other and to whatever the arguments may refer to. Only
     * for the handler's thread during the call.
     */
    Scope temporaryScope();

    /**
     * Takes over the scope of an argument in the channel's shared arena. Its memory then belongs to this server, and
     * outlives the caller, which may only close it. Otherwise arguments belong to the caller and must not be kept. Only
     * for the handler's thread during the call. If the caller shares no memory with this server, the argument is copied
     * with everything reachable from it, and its flyweight then refers to the copy: take Refs afterwards.
     *
     * <p>Adopting does not close the caller's {@code Scope}. A server that drains waits, within the bound of {@link
     * RpcServer#shutdown}, until the caller has closed it. The adopted scope is the server's own, so a drain waits neither
     * for it nor for callers that read its objects.
     *
     * @param argument a shared object that the caller built in {@code RpcChannel.newSharedScope}
     * @return the scope, which any thread may close when its objects are no longer needed; nothing else may be done
     *     with it
     * @throws RpcException FAILED_PRECONDITION if the argument lies in the caller's own arena, which ends with its
     *     connection, or if its scope does not belong to the caller any more
     */
    Scope adopt(Object argument);
}
