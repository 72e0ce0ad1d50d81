package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.MethodDescriptor;
import dev.rackcall.sandbox.ArgumentSpace;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SharedObject;

/**
 * What a call has at the server beside its slot: the space in which the Refs of its isolated arguments are followed, and the temporary scope of its handler.
 * One per slot, made when the first call needs it; a call that answers with a stream takes it along. Used by the thread that serves the call.
 */
final class CallMemory {
    private static final long FIRST_TEMPORARY_BYTES = 4000;

    private final ServerLink link;
    private final ServiceBinding service;
    private final ArgumentSpace arguments;
    private Scope temporary;

    CallMemory(ServerLink link, ServiceBinding service) {
        this.link = link;
        this.service = service;
        this.arguments = service.newArgumentSpace();
    }

    /**
     * Where the Refs of an isolated call's arguments are followed.
     *
     * @param flags the request's; SNAPSHOT or SEALED
     * @param scopeOrSeal the request's isolation field
     * @throws dev.rackcall.shm.RefException if there is no such scope
     */
    RefSpace arguments(int flags, long scopeOrSeal) {
        if (!arguments.isEntered()) {
            arguments.snapshot(link.argumentArena(scopeOrSeal), scopeOrSeal);
        }
        return arguments;
    }

    /** Whether an object lies in the scope that the caller passed, which may be returned to it: the same Ref means its original there. */
    boolean isArgument(Object sharedObject) {
        return SharedObject.spaceOf(sharedObject) == arguments && arguments.holds(SharedObject.refOf(sharedObject));
    }

    /** Refuses what comes less isolated than is demanded. */
    static void requireTrusted(Isolation demanded, MethodDescriptor method, String argument) {
        if (demanded.isSafe()) {
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "%s: argument '%s' came as %s, but %s is demanded; call with CallOptions.withIsolation(Isolation.AUTO)",
                            method.fullName(), argument, Isolation.TRUSTED, demanded)
                    .asException();
        }
    }

    /** What the handler allocates here is gone when the call ends. */
    Scope temporaryScope(RefSpace alsoFollowed) {
        if (temporary == null) {
            Arena scratch = service.scratch().arena();
            TemporarySpace space = new TemporarySpace(scratch, alsoFollowed);
            temporary = scratch.newScope(FIRST_TEMPORARY_BYTES, space);
            space.own(temporary);
        }
        return temporary;
    }

    /** The call has ended. */
    void leave() {
        arguments.leave();
        if (temporary != null) {
            temporary.closeForOwner();
            temporary = null;
        }
    }
}
