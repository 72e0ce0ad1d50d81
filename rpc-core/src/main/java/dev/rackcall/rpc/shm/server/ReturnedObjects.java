package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Which shared objects a handler may return to its caller, and which it may keep: those that both map. The server's side of {@code PassedObjects}. Judged by memory, not by
 * arena number: a server that is a client of others meets their numbers, too. Thread-safe.
 */
final class ReturnedObjects {
    private final ServerEnd link;
    private final Handshake.Welcome welcome;
    private final Arena shared;

    ReturnedObjects(ServerEnd link, Handshake.Welcome welcome, Arena shared) {
        this.link = link;
        this.welcome = welcome;
        this.shared = shared;
    }

    /**
     * The Ref by which the caller finds what a handler returns.
     *
     * @throws dev.rackcall.rpc.RpcException INTERNAL if it cannot; FAILED_PRECONDITION if it could only on this host
     */
    long share(Object sharedObject, String method) {
        long ref = SharedObject.refOf(sharedObject);
        MemorySegment.Scope mapped = mappingOf(sharedObject, ref, method);
        boolean isOwn = link.owns(mapped);
        if (link.isMirrored()) {
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

    /** What lies in the request arena came from the client, which has it. */
    private void carryOver(long ref, MemorySegment.Scope mapped, String method) {
        if (!link.owns(mapped) && !isOpenForAll(ref, mapped, method)) {
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "%s: the handler returned an object in arena %d, but its caller shares no memory with this process; allocate"
                                    + " results in RpcContext.replyScope(), or return what lies in the channel's shared arena",
                            method, Ref.arenaId(ref))
                    .asException();
        }
        if (Ref.arenaId(ref) == welcome.reply().id()) {
            link.mirrored().orElseThrow().carryReply(ref);
        }
    }

    /** Whether the caller may ask for it: it lies in a scope that another node has opened for others, or that this server has adopted. */
    private boolean isOpenForAll(long ref, MemorySegment.Scope mapped, String method) {
        try {
            return link.mirrored().orElseThrow().isOpenForAll(mapped, ref);
        } catch (RefException e) {
            throw isGone(method, e);
        }
    }

    private boolean isShared(MemorySegment.Scope mapped) {
        return mapped.equals(shared.memory().scope());
    }

    private static MemorySegment.Scope mappingOf(Object sharedObject, long ref, String method) {
        try {
            return SharedObject.spaceOf(sharedObject).memory(ref).scope();
        } catch (RefException | IllegalStateException e) {
            // Or else: unmapped, since its client's connection has ended.
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
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if it does not lie in the shared arena, or is not its caller's to give
     */
    Scope adopt(Object argument, String method) {
        long ref = SharedObject.refOf(argument);
        Optional<Scope> copied = link.mirrored().flatMap(client -> client.adopt(argument, ref, method));
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
            return shared.adopt(ref, welcome.participant());
        } catch (RefException e) {
            throw Status.Code.FAILED_PRECONDITION
                    .with("%s: the argument cannot be taken over: %s", method, e.getMessage())
                    .asException(e);
        }
    }
}
