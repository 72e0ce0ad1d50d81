package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.sandbox.ArgumentSpace;
import dev.rackcall.sandbox.IsolationEvents;
import dev.rackcall.sandbox.SealException;
import dev.rackcall.sandbox.SealedScopes;
import dev.rackcall.sandbox.SnapshotBudget;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;

/**
 * What a call has at the server beside its slot: the space in which the Refs of its isolated arguments are followed, and the temporary scope of its handler.
 * One per slot, made when the first call needs it; a call that answers with a stream takes it along. Used by the thread that serves the call.
 */
final class CallMemory {
    private static final long FIRST_TEMPORARY_BYTES = 4000;

    private final ServerEnd link;
    private final ServiceBinding service;
    private final ArgumentSpace arguments;
    private Scope temporary;
    /** What the call's arguments are read under; 0: none. */
    private long seal;
    /** Its caller cannot lift it, and the arguments are read in place for that reason. */
    private boolean enforced;

    CallMemory(ServerEnd link, ServiceBinding service, SnapshotBudget budget) {
        this.link = link;
        this.service = service;
        this.arguments = service.newArgumentSpace(budget);
    }

    /**
     * Where the Refs of an isolated call's arguments are followed.
     *
     * @param flags the request's; SNAPSHOT or SEALED
     * @param scopeOrSeal the request's isolation field
     * @param demanded what the method and the server ask for. Who believes no caller copies also what is sealed, unless a holder has the seals
     * @throws RefException if there is no such scope, or the seal is none
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if the seal must be enforced and is not
     */
    RefSpace arguments(int flags, long scopeOrSeal, Isolation demanded, MethodDescriptor method) {
        if (!arguments.isEntered()) {
            if ((flags & SlotLayout.SEALED) == 0) {
                arguments.snapshot(link.argumentArena(scopeOrSeal), scopeOrSeal);
            } else {
                boolean held = link.seals().areEnforced();
                if (!held && service.demandsEnforcedSeals()) {
                    throw notEnforced(method);
                }
                boolean believed = demanded.compareTo(Isolation.SEALED) <= 0 || (held && demanded == Isolation.AUTO);
                enforced = held && believed;
                sealed(scopeOrSeal, !believed);
            }
        }
        return arguments;
    }

    private void sealed(long number, boolean copy) {
        try {
            SealedScopes seals = link.seals().scopes();
            if (copy) {
                long firstRun = seals.claim(number);
                // Before the copy, which may fail: who has claimed it marks it done.
                seal = number;
                arguments.snapshot(link.requestArena(), firstRun);
            } else {
                arguments.fence(link.requestArena(), seals, number);
                seal = number;
            }
        } catch (SealException e) {
            throw new RefException(e.getMessage());
        }
    }

    private static RpcException notEnforced(MethodDescriptor method) {
        IsolationEvents.violation(
                IsolationEvents.Violation.PROTOCOL, method.fullName(), "its arguments' seal was the caller's own");
        return Status.Code.FAILED_PRECONDITION
                .with(
                        "%s: its arguments came under a seal that its caller holds itself, but enforced seals are demanded; open the"
                                + " channel with enforcedSeals(holder, wish), or call with CallOptions.withIsolation(Isolation.SNAPSHOT)",
                        method.fullName())
                .asException();
    }

    /** Whether whoever held the seal has ended meanwhile, which opens the pages: then what was read may have changed under the handler. */
    boolean hasLostItsSeal() {
        return enforced && seal != 0 && !link.seals().areEnforced();
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
            link.seals().markDone(seal);
            seal = 0;
        }
        if (temporary != null) {
            temporary.closeForOwner();
            temporary = null;
        }
    }
}
