package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedType;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Decides which shared objects a handler may return or adopt: those that both sides map. The counterpart of {@code
 * PassedObjects}. Compared by memory, not by arena number, since this process may be a client of servers that use the
 * same numbers. Thread-safe.
 */
final class ReturnedObjects {
    private final ServerEnd end;
    private final Handshake.ServerHello serverHello;
    private final Arena shared;

    ReturnedObjects(ServerEnd end, Handshake.ServerHello serverHello, Arena shared) {
        this.end = end;
        this.serverHello = serverHello;
        this.shared = shared;
    }

    /**
     * The Ref by which the caller finds a returned object.
     *
     * @throws dev.rackcall.rpc.RpcException INTERNAL if the caller cannot find it; FAILED_PRECONDITION if only a caller
     *     on this host could
     */
    long share(Object sharedObject, String method) {
        long ref = SharedObject.refOf(sharedObject);
        MemorySegment.Scope mapped = mappingOf(sharedObject, ref, method);
        boolean isOwn = end.owns(mapped);
        if (end.isMirrored()) {
            carryOver(ref, mapped, method);
        } else if (!isOwn && !isShared(mapped)) {
            throw Status.Code.INTERNAL
                    .with(
                            "%s: the handler returned an object in arena %d, which its caller does not map; allocate results in"
                                    + " RpcContext.replyScope() or in the channel's shared arena",
                            method, Ref.arenaId(ref))
                    .asException();
        }
        return ref;
    }

    /** Carries only reply objects over: objects of the request arena came from the client, which still has them. */
    private void carryOver(long ref, MemorySegment.Scope mapped, String method) {
        if (!end.owns(mapped) && !isOpenForAll(ref, mapped, method)) {
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "%s: the handler returned an object in arena %d, but its caller shares no memory with this process; allocate"
                                    + " results in RpcContext.replyScope(), or return what lies in the channel's shared arena",
                            method, Ref.arenaId(ref))
                    .asException();
        }
        if (Ref.arenaId(ref) == serverHello.reply().id()) {
            end.mirrored().orElseThrow().carryReply(ref);
        }
    }

    /** Whether the caller may fetch an object: another client has opened its scope, or this server has adopted it. */
    private boolean isOpenForAll(long ref, MemorySegment.Scope mapped, String method) {
        try {
            return end.mirrored().orElseThrow().isOpenForAll(mapped, ref);
        } catch (RefException e) {
            throw isGone(method, e);
        }
    }

    /** Lets a handler write an object that is now the server's own. */
    private <T> void own(T argument, long ref) {
        @SuppressWarnings("unchecked") // a flyweight's type object makes flyweights of the same class
        SharedType<T> type = (SharedType<T>) SharedObject.typeOf(argument);
        type.move(argument, new ReplyScopes.OwnSpace(shared, end.refs()), ref);
    }

    private boolean isShared(MemorySegment.Scope mapped) {
        return mapped.equals(shared.memory().scope());
    }

    private static MemorySegment.Scope mappingOf(Object sharedObject, long ref, String method) {
        try {
            return SharedObject.spaceOf(sharedObject).memory(ref).scope();
        } catch (RefException | IllegalStateException e) {
            // IllegalStateException: unmapped, since its client's connection has ended.
            throw isGone(method, e);
        }
    }

    private static RpcException isGone(String method, RuntimeException cause) {
        return Status.Code.INTERNAL
                .with("%s: the handler returned an object that is gone: %s", method, cause.getMessage())
                .asException(cause);
    }

    /**
     * Makes the scope of an argument the server's own.
     *
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if the argument is not in the shared arena, or does not
     *     belong to the caller
     */
    Scope adopt(Object argument, String method) {
        long ref = SharedObject.refOf(argument);
        Optional<Scope> copied = end.mirrored().flatMap(client -> client.adopt(argument, ref, method));
        if (copied.isPresent()) {
            return copied.get();
        }
        if (!isShared(SharedObject.spaceOf(argument).memory(ref).scope())) {
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "%s: the argument lies in its caller's own arena, which ends with the connection; to hand it over, build it in"
                                    + " RpcChannel.newSharedScope()",
                            method)
                    .asException();
        }
        try {
            Scope adopted = shared.adopt(ref, serverHello.participant());
            own(argument, ref);
            return adopted;
        } catch (RefException e) {
            throw Status.Code.FAILED_PRECONDITION
                    .with("%s: the argument cannot be taken over: %s", method, e.getMessage())
                    .asException(e);
        }
    }
}
