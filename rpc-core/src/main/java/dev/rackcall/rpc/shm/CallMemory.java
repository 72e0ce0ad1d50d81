package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.MethodDescriptor;
import dev.rackcall.sandbox.ArgumentSpace;
import dev.rackcall.sandbox.IsolationEvents;
import dev.rackcall.sandbox.SealException;
import dev.rackcall.sandbox.SealedScopes;
import dev.rackcall.sandbox.SnapshotBudget;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.RefException;
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
    /** What the call's arguments are read under; 0: none. */
    private long seal;

    CallMemory(ServerLink link, ServiceBinding service, SnapshotBudget budget) {
        this.link = link;
        this.service = service;
        this.arguments = service.newArgumentSpace(budget);
    }

    /**
     * Where the Refs of an isolated call's arguments are followed.
     *
     * @param flags the request's; SNAPSHOT or SEALED
     * @param scopeOrSeal the request's isolation field
     * @param demanded what the method and the server ask for. The caller holds its seals itself, so whoever believes no caller copies what is sealed, too
     * @throws RefException if there is no such scope, or the seal is none
     */
    RefSpace arguments(int flags, long scopeOrSeal, Isolation demanded) {
        if (!arguments.isEntered()) {
            if ((flags & SlotLayout.SEALED) == 0) {
                arguments.snapshot(link.argumentArena(scopeOrSeal), scopeOrSeal);
            } else {
                sealed(scopeOrSeal, demanded.compareTo(Isolation.SEALED) > 0);
            }
        }
        return arguments;
    }

    private void sealed(long number, boolean copy) {
        try {
            SealedScopes seals = link.seals();
            if (copy) {
                arguments.snapshot(link.requestArena(), seals.claim(number));
            } else {
                arguments.fence(link.requestArena(), seals, number);
            }
        } catch (SealException e) {
            throw new RefException(e.getMessage());
        }
        seal = number;
    }

    /** Whether this call's arguments are read under that seal, so that {@link #leave} marks it done. */
    boolean has(long number) {
        return seal == number;
    }

    /** Whether an object lies in the scope that the caller passed, which may be returned to it: the same Ref means its original there. */
    boolean isArgument(Object sharedObject) {
        return SharedObject.spaceOf(sharedObject) == arguments && arguments.holds(SharedObject.refOf(sharedObject));
    }

    /** Refuses what comes less isolated than is demanded. */
    static void requireTrusted(Isolation demanded, MethodDescriptor method, String argument) {
        if (demanded.isSafe()) {
            IsolationEvents.violation(
                    IsolationEvents.Violation.PROTOCOL,
                    method.fullName(),
                    "argument '" + argument + "' was not isolated");
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
        if (seal != 0) {
            link.markDone(seal);
            seal = 0;
        }
        if (temporary != null) {
            temporary.closeForOwner();
            temporary = null;
        }
    }
}
