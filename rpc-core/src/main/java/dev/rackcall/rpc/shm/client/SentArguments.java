package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.sandbox.SealException;
import dev.rackcall.sandbox.Seals;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeException;
import dev.rackcall.shm.types.SharedObject;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * The shared arguments of a call at its client. If the call is isolated, or writes, they lie in one scope, which this
 * class keeps from changing. Created for a slot's first shared argument, or for a call that waits for a slot. Confined
 * to the thread that holds the slot or makes the call.
 */
final class SentArguments {
    static final long NO_SEAL = 0;

    private final ClientMemory arenas;
    private long firstRun = Ref.NULL;
    /** The scope as an object of this process; null if the arguments were attached without it. */
    private Scope scope;
    /** Whether an argument's scope stays here, so that the server fetches what it needs of it. */
    private boolean fetched;

    /** nanoTime before the scope was isolated; 0: the call is not timed. */
    private long begun;

    private long timedRun;
    private long closing;

    SentArguments(ClientMemory arenas) {
        this.arenas = arenas;
    }

    /** A new call has the slot: the time of a failed call before it does not count. */
    void begin() {
        begun = 0;
        fetched = false;
    }

    /**
     * Passes a shared argument; returns the Ref by which the server finds it.
     *
     * @param inOneScope whether the call is isolated or writes
     */
    long share(Object sharedObject, boolean inOneScope, String method, String argument) {
        long ref = PassedObjects.pass(arenas, sharedObject, method, argument);
        fetched |= arenas.carryOver(ref, !inOneScope, method, argument);
        if (inOneScope) {
            add(sharedObject, ref, method, argument);
        }
        return ref;
    }

    /** Whether the server fetches what it needs of the arguments. */
    boolean areFetched() {
        return fetched;
    }

    private void add(Object sharedObject, long ref, String method, String argument) {
        long holder;
        try {
            holder = arenas.argumentArena(ref).scopeOf(ref);
        } catch (RefException e) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("%s: argument '%s' cannot be isolated or written: %s", method, argument, e.getMessage())
                    .asException(e);
        }
        if (firstRun != Ref.NULL && firstRun != holder) {
            throw Status.Code.INVALID_ARGUMENT
                    .with(
                            "%s: argument '%s' lies in another scope than the ones before it; a call that is isolated, or writes, passes one scope:"
                                    + " create all its arguments in it, or copy them there with DeepCopy.DEFAULT.copy",
                            method, argument)
                    .asException();
        }
        firstRun = holder;
        if (scope == null) {
            Optional<Scope> its = SharedObject.scopeOf(sharedObject);
            if (its.isPresent() && its.get().isOpen() && its.get().firstRun() == holder) {
                scope = its.get();
            }
        }
    }

    /**
     * Isolates the scope of the added arguments, records that in the slot, and forgets the arguments.
     *
     * @return the seal, to be released when the call has ended; {@link #NO_SEAL} if the server takes a snapshot
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if another call has the scope sealed
     */
    long isolate(Isolation isolation, MethodDescriptor method, MemorySegment memory, long slot) {
        long seal = NO_SEAL;
        try {
            if (mayBeSealed(isolation)) {
                if (isolation == Isolation.AUTO && arenas.autoSeals().weighs(scope)) {
                    timedRun = firstRun;
                    begun = System.nanoTime();
                }
                if (isolation == Isolation.SEALED || arenas.autoSeals().choose(scope)) {
                    seal = seal(isolation, method);
                }
                if (begun != 0) {
                    closing = System.nanoTime() - begun;
                }
            }
            SlotLayout.requestIsolation(memory, slot, seal == NO_SEAL ? firstRun : seal);
            return seal;
        } finally {
            forget();
        }
    }

    /**
     * Other arenas are writable by other processes despite a seal here, and no seal keeps a device from writing a
     * mirror.
     */
    private boolean mayBeSealed(Isolation isolation) {
        return scope != null
                && !arenas.isMirrored()
                && arenas.canSeal(scope)
                && (isolation == Isolation.SEALED || (isolation == Isolation.AUTO && arenas.mayChooseSeals()));
    }

    /**
     * Refuses arguments that must be sealed because the server copies no scope that large.
     *
     * @throws dev.rackcall.rpc.RpcException RESOURCE_EXHAUSTED if they must
     */
    void requireCopied(Isolation isolation, MethodDescriptor method) {
        if (mayBeSealed(isolation) && scope.bytesHeld() > arenas.largestCopy()) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "%s: no slot is free, and only a call that has one can seal its scope of %d bytes, which is too large for the"
                                    + " server to copy (at most %d); wait for earlier calls, or open the channel with more slots",
                            method, scope.bytesHeld(), arenas.largestCopy())
                    .asException();
        }
    }

    /** Ref of the first run of the arguments' scope; null if there are none. */
    long firstRun() {
        return firstRun;
    }

    /**
     * The arguments' scope, into which the handler will store.
     *
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if another call has it sealed, or if the arguments were
     *     attached without it
     */
    Optional<Scope> requireWritable(MethodDescriptor method) {
        if (scope == null) {
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "%s: it would write to its arguments, but they were attached by Ref without their scope, so a seal of"
                                    + " another call would not be noticed; pass the objects that the scope created, or attach"
                                    + " them with SharedType.attach(scope, ref)",
                            method)
                    .asException();
        }
        if (scope.isSealed() && !scope.sealedByOr(() -> true).releaseIfDone()) {
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "%s: it would write to %s, which %s has sealed; wait until that call has ended, or use another scope",
                            method, scope, scope.sealedByOr(() -> true))
                    .asException();
        }
        return scope.present();
    }

    /** The caller has its answer. Called before the seal is released. */
    void answered(long seal) {
        if (begun != 0) {
            long nanos = System.nanoTime() - begun;
            begun = 0;
            if (seal == NO_SEAL) {
                arenas.autoSeals().copied(timedRun, nanos);
            } else {
                arenas.autoSeals().sealed(timedRun, nanos, closing);
            }
        }
    }

    private long seal(Isolation isolation, MethodDescriptor method) {
        Seals seals = arenas.seals().orElse(null);
        if (seals == null) {
            return NO_SEAL;
        }
        if (seals.waiting() > 0) {
            seals.flush();
        }
        try {
            return seals.seal(scope, method);
        } catch (ScopeException e) {
            if (isolation == Isolation.AUTO && scope.isOpen()) {
                // Another call has the scope sealed; a copy does not disturb it.
                return NO_SEAL;
            }
            throw Status.Code.FAILED_PRECONDITION
                    .with("%s: its arguments cannot be sealed: %s", method, e.getMessage())
                    .asException(e);
        } catch (SealException e) {
            // No descriptor is free, or the kernel refused. A snapshot gives the same protection at a higher price.
            return NO_SEAL;
        }
    }

    boolean isEmpty() {
        return firstRun == Ref.NULL;
    }

    /** Forgets what was added for a call that was not sent. */
    void forget() {
        firstRun = Ref.NULL;
        scope = null;
    }

    /**
     * The call has ended: releases the seal, now if the server is done with it, else later.
     *
     * @param answered whether there was an answer, before which the server marks the seal done
     */
    static void release(ClientMemory arenas, long seal, boolean answered) {
        try {
            Seals seals = arenas.seals().orElseThrow();
            if (!answered) {
                seals.releaseLater(seal);
            } else if (arenas.keepsSealed()) {
                seals.releaseWhenUsed(seal);
            } else if (!seals.tryRelease(seal)) {
                seals.releaseLater(seal);
            }
        } catch (SealException | RpcException e) {
            // The connection or the holder of its seals has ended, and the seals with it.
            return;
        }
    }
}
