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
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import java.util.Optional;

/**
 * A call's memory at the server besides its slot: the space that resolves the Refs of its isolated arguments, and its
 * handler's temporary scope. One per slot, made when first needed; a call that answers with a stream hands it over to
 * the stream. Confined to the thread that serves the call.
 */
final class CallMemory {
    private static final long FIRST_TEMPORARY_BYTES = 4000;

    private final ServerEnd end;
    private final ServiceBinding service;
    private final SnapshotBudget budget;
    private final ArgumentSpace arguments;
    /** The arguments of trusted calls that write; null until the slot's first one. */
    private ArgumentSpace written;

    private Scope temporary;
    /** The seal of the call's arguments; 0: none. */
    private long seal;
    /** The caller cannot lift the seal, so the arguments are read in place. */
    private boolean enforced;

    CallMemory(ServerEnd end, ServiceBinding service, SnapshotBudget budget) {
        this.end = end;
        this.service = service;
        this.budget = budget;
        this.arguments = service.newArgumentSpace(budget);
    }

    /**
     * The space that resolves the Refs of an isolated call's arguments.
     *
     * @param flags of the request: SNAPSHOT or SEALED
     * @param scopeOrSeal the request's isolation field
     * @param demanded the isolation that the method and the server demand; under AUTO, sealed arguments are copied
     *     unless a holder has the seals
     * @throws RefException if there is no such scope or seal
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if the seal must be enforced and is not
     */
    RefSpace arguments(int flags, long scopeOrSeal, Isolation demanded, MethodDescriptor method) {
        if (!arguments.isEntered()) {
            if ((flags & SlotLayout.SEALED) == 0) {
                arguments.snapshot(
                        end.argumentArena(scopeOrSeal),
                        scopeOrSeal,
                        method.writes() ? ArgumentSpace.Stores.ALLOWED : ArgumentSpace.Stores.REFUSED);
            } else {
                boolean held = end.seals().areEnforced();
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

    /**
     * The space of the arguments of a trusted call that writes. In shared memory its handler stores in place. In a mirror
     * it stores into a copy, so that the mirror still equals what the client knows of it.
     *
     * @param firstRun of the scope in which the handler may store
     * @throws RefException if there is no such scope
     */
    RefSpace written(long firstRun) {
        if (written == null) {
            written = service.newTrustingSpace(end.refs(), budget);
        }
        if (!written.isEntered()) {
            Arena arena = end.argumentArena(firstRun);
            if (end.isMirrored()) {
                written.snapshot(arena, firstRun, ArgumentSpace.Stores.ALLOWED);
            } else {
                written.fence(arena, firstRun, ArgumentSpace.Stores.ALLOWED);
            }
        }
        return written;
    }

    /** The copy into which the handler has stored; empty if it has none. */
    Optional<ArgumentSpace> writtenCopy() {
        if (arguments.isWrittenCopy()) {
            return Optional.of(arguments);
        }
        return Optional.ofNullable(written).filter(ArgumentSpace::isWrittenCopy);
    }

    private void sealed(long number, boolean copy) {
        try {
            SealedScopes seals = end.seals().scopes();
            if (copy) {
                long firstRun = seals.claim(number);
                // Before the copy, which may fail: a claimed seal must be marked done.
                seal = number;
                arguments.snapshot(end.requestArena(), firstRun);
            } else {
                arguments.fence(end.requestArena(), seals, number);
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

    /**
     * Whether the holder of the seal has ended. That opens the pages, so the arguments may have changed under the
     * handler.
     */
    boolean hasLostItsSeal() {
        return enforced && seal != 0 && !end.seals().areEnforced();
    }

    /** Whether this call's arguments are read under that seal, so that {@link #leave} marks it done. */
    boolean has(long number) {
        return seal == number;
    }

    /**
     * Whether an object lies in the scope that the caller passed. Such an object may be returned: at the caller the
     * same Ref names the original.
     */
    boolean isArgument(Object sharedObject) {
        return isIn(arguments, sharedObject) || (written != null && isIn(written, sharedObject));
    }

    private static boolean isIn(ArgumentSpace space, Object sharedObject) {
        return SharedObject.spaceOf(sharedObject) == space && space.holds(SharedObject.refOf(sharedObject));
    }

    /** Refuses arguments that are less isolated than demanded. */
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

    /** A scope for the handler, closed when the call ends. */
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
        if (written != null) {
            written.leave();
        }
        if (seal != 0) {
            end.seals().markDone(seal);
            seal = 0;
        }
        if (temporary != null) {
            temporary.closeForOwner();
            temporary = null;
        }
    }

    /**
     * Resolves the Refs of objects in a handler's temporary scope: into that scope, and into all memory that its
     * arguments may reference. Other calls' temporary scopes lie in the same arena and are excluded, since a caller
     * could forge Refs into them.
     */
    static final class TemporarySpace extends RefSpace {
        private final Arena scratch;
        private final ArenaTable everything = ArenaTable.create();
        private final RefSpace arguments;
        private Scope scope;

        TemporarySpace(Arena scratch, RefSpace arguments) {
            this.scratch = scratch;
            this.arguments = arguments;
            everything.add(scratch);
        }

        void own(Scope newScope) {
            scope = newScope;
        }

        @Override
        public Window window(long ref) {
            return Ref.arenaId(ref) == scratch.id() && scope.holds(ref)
                    ? everything.window(ref)
                    : arguments.window(ref);
        }
    }
}
