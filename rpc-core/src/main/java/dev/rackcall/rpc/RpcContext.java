package dev.rackcall.rpc;

import dev.rackcall.shm.Scope;
import java.util.Optional;

/**
 * What a handler may know about the call that it serves. Obtained by {@link #current} on the handler's thread; may be kept and passed on, and
 * stays readable after the call has ended.
 */
public interface RpcContext {
    /** The call that the current thread serves, empty outside a handler. */
    static Optional<RpcContext> current() {
        return RpcProvider.get().currentCall();
    }

    MethodDescriptor method();

    /** What the caller sent along. */
    Metadata headers();

    /**
     * When the caller stops waiting, if its call set a time-out or a deadline, or inherited one; calls that the handler makes inherit it. A channel's default time-out is its own affair: it does
     * not travel, so a service whose handlers make calls wants its callers to say {@link CallOptions#withTimeout}.
     */
    Optional<Deadline> deadline();

    /**
     * Whether the caller has cancelled, or is gone, or its deadline has passed: nobody wants the result any more. A handler that was told so may return anything: the call
     * ends as cancelled or with DEADLINE_EXCEEDED.
     */
    boolean isCancelled();

    /**
     * Runs {@code action} once when the caller cancels or dies, on a thread that may block; at once, on the calling thread, if that has happened. Several run in
     * the order in which they were given. Not called for a call that ended before.
     */
    void onCancel(Runnable action);

    Peer peer();

    /**
     * Where the handler allocates a shared object that it returns by pointer. The object belongs to the caller, who gives it back by
     * {@code RpcChannel.release}; if the call fails, the scope is closed. Used by the handler's thread while the call lasts: of a {@code Stream} of shared
     * objects, all are allocated before the method returns.
     */
    Scope replyScope();

    /**
     * Where the handler allocates shared objects that it needs only while it works: no caller sees this memory, and it is freed when the call ends. Its
     * objects may refer to each other and to whatever the arguments may refer to. Used by the handler's thread while the call lasts.
     */
    Scope temporaryScope();

    /**
     * Takes over the scope of an argument that lies in the channel's shared arena: its memory then belongs to this server and stays when the
     * caller closes the scope, or dies; closing is all that the caller may still do with it. Without this, arguments belong to the caller and must not be kept. Used by the handler's thread while
     * the call lasts. Of a caller that shares no memory with this server what the argument can reach is copied, and the argument's flyweight is moved onto the copy:
     * take Refs of it, or of what it leads to, afterwards.
     *
     * @param argument a shared object that the caller built in {@code RpcChannel.newSharedScope}
     * @return the scope, only to be closed, by any thread, when the objects in it are no longer wanted
     * @throws RpcException FAILED_PRECONDITION if the argument lies in the caller's own arena, which ends with its connection, or if its scope is
     *     not the caller's any more
     */
    Scope adopt(Object argument);
}
