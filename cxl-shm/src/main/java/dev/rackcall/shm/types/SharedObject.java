package dev.rackcall.shm.types;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * A flyweight: a place in an arena that was checked to hold a whole object of its type. Base of the containers and, through
 * {@link SharedRecord}, of the classes that the annotation processor writes.
 *
 * <p>What users ask of any shared object is static here, so that interfaces are free in the names of their fields. Two flyweights are
 * equal when they are on the same object; a flyweight that moves changes its hash code. Not thread-safe.
 */
public abstract class SharedObject {
    /** No Ref: arenas have no number 0. */
    private static final long GIVEN_AWAY = 1;

    private final SharedType<?> type;
    private RefSpace space;
    private MemorySegment memory;
    private Scope scope;

    /** The object under this flyweight, or the one that it lies in; 0 or {@link #GIVEN_AWAY} if it is on none. */
    private long ref;

    private long base;

    /** Where a part without header lies in its object; 0 for a whole object. */
    private long inside;

    /** A flyweight on no object yet. */
    SharedObject(SharedType<?> type) {
        this.type = type;
    }

    /**
     * The Ref of a shared object.
     *
     * @throws IllegalArgumentException if it is no shared object, is on no object yet, or lies inside another one ({@link Inline})
     */
    public static long refOf(Object sharedObject) {
        SharedObject object = of(sharedObject);
        if (object.memory == null) {
            throw new IllegalArgumentException(object.nowhere());
        }
        if (object.inside != 0) {
            throw new IllegalArgumentException(object + " has no Ref of its own; pass the object that it lies in");
        }
        return object.ref;
    }

    /** The Ref of a shared object, typed; throws as {@link #refOf}. */
    public static <T> Ref<T> toRef(T sharedObject) {
        return new Ref<>(refOf(sharedObject));
    }

    /**
     * The Ref of a shared object whose scope is still open. For whoever passes the Ref to somebody who cannot tell.
     *
     * @throws IllegalArgumentException as {@link #refOf}
     * @throws RefException if its scope was closed or reset
     */
    public static long liveRefOf(Object sharedObject) {
        long ref = refOf(sharedObject);
        of(sharedObject).space.window(ref);
        return ref;
    }

    /**
     * Takes a flyweight off its object, whose memory was given away: from now on every access is an {@link IllegalStateException}, until the flyweight is moved. Other
     * flyweights on the same object stay there.
     */
    public static void leave(Object sharedObject) {
        SharedObject object = of(sharedObject);
        object.memory = null;
        object.space = null;
        object.scope = null;
        object.ref = GIVEN_AWAY;
    }

    /** Whether {@link #leave} was the last that happened to it. */
    public static boolean hasLeft(Object sharedObject) {
        SharedObject object = of(sharedObject);
        return object.memory == null && object.ref == GIVEN_AWAY;
    }

    /** Where the Refs of a shared object are followed. */
    public static RefSpace spaceOf(Object sharedObject) {
        return of(sharedObject).attachedSpace();
    }

    /** The scope that a shared object was created in, or is attached with; what is allocated for the object goes there. */
    public static Optional<Scope> scopeOf(Object sharedObject) {
        Scope scope = of(sharedObject).scope;
        return scope == null ? Optional.empty() : scope.present();
    }

    /** The type of a shared object. */
    public static SharedType<?> typeOf(Object sharedObject) {
        return of(sharedObject).type;
    }

    static SharedObject of(Object sharedObject) {
        if (sharedObject instanceof SharedObject object) {
            return object;
        }
        throw new IllegalArgumentException(
                (sharedObject == null ? "null" : "a " + sharedObject.getClass().getName())
                        + " is no shared object; create it with scope.create(Type.class)");
    }

    // Attaching

    /** Puts this flyweight onto a checked object, or leaves it as it is and throws. */
    final void bind(RefSpace newSpace, Scope newScope, long newRef) {
        RefSpace.Window window = newSpace.follow(newRef);
        long newBase = window.at(newRef);
        int bytes = type.checkedBytes(window, newBase, newRef);
        place(newSpace, newScope, window.memory(), newRef, newBase, 0, bytes);
    }

    /** Writes the header of a new object and puts this flyweight onto it. */
    final void create(Scope owner, long newRef, int bytes) {
        MemorySegment newMemory = owner.arena().memory();
        long newBase = Ref.offset(newRef);
        newMemory.set(ObjectLayout.LONG, newBase, ObjectLayout.header(type.typeId(), bytes));
        type.created(newMemory, newBase);
        place(owner.space(), owner, newMemory, newRef, newBase, 0, bytes);
    }

    /** Puts this flyweight onto a part of {@code owner} that has no header. */
    final void embed(SharedObject owner, long offset, int bytes) {
        long shift = offset - ObjectLayout.HEADER_BYTES;
        place(
                owner.attachedSpace(),
                owner.scope,
                owner.memory,
                owner.ref,
                owner.base + shift,
                owner.inside == 0 ? offset : owner.inside + shift,
                bytes);
    }

    @SuppressWarnings("MemorySegmentReferenceEquality") // only to save a store of the same reference
    private void place(
            RefSpace newSpace,
            Scope newScope,
            MemorySegment newMemory,
            long newRef,
            long newBase,
            long newInside,
            int bytes) {
        // Storing a reference costs a garbage collector's barrier, and most moves are to a neighbour.
        if (space != newSpace) {
            space = newSpace;
        }
        if (scope != newScope) {
            scope = newScope;
        }
        if (memory != newMemory) {
            memory = newMemory;
        }
        ref = newRef;
        base = newBase;
        inside = newInside;
        placed(bytes);
    }

    /** Called after every move, with the checked size. */
    void placed(int bytes) {}

    // For the containers

    final SharedType<?> type() {
        return type;
    }

    final long base() {
        return base;
    }

    final Scope scope() {
        return scope;
    }

    final RefSpace attachedSpace() {
        memory();
        return space;
    }

    /** The arena under this flyweight. Compiled code gets the null check for nothing. */
    final MemorySegment memory() {
        MemorySegment attached = memory;
        if (attached == null) {
            throw new IllegalStateException(nowhere());
        }
        assert space.memory(ref) != null; // throws if the scope was closed
        return attached;
    }

    /**
     * The arena, for a store. A store that gets past this to a sealed scope, since another thread seals it just now, meets write-protected
     * pages; this check is there for an exception at the right place.
     *
     * @throws SealedScopeException if a call has the object's scope sealed
     */
    final MemorySegment writable() {
        Scope owner = scope;
        if (owner != null && owner.hasSeal()) {
            owner.checkStore(ref, objectBytes());
        }
        return memory();
    }

    /** Of the object under this flyweight, or the one that it lies in; as its header says. */
    private long objectBytes() {
        long header = inside == 0 ? base : base - inside + ObjectLayout.HEADER_BYTES;
        return ObjectLayout.bytes(memory().get(ObjectLayout.LONG, header));
    }

    final Scope allocatingScope(String what) {
        memory();
        if (scope == null) {
            throw new ScopeException(what + ": " + this + " was not created here, so there is no scope to allocate in;"
                    + " attach it with a scope, or copy it with DeepCopy.DEFAULT.copy");
        }
        return scope;
    }

    private String nowhere() {
        return this + (ref == GIVEN_AWAY ? "; read it before you release it" : " yet; move it first");
    }

    @Override
    public final boolean equals(Object other) {
        return other instanceof SharedObject object
                && type.typeId() == object.type.typeId()
                && ref == object.ref
                && inside == object.inside;
    }

    @Override
    public final int hashCode() {
        return Long.hashCode(ref + inside);
    }

    @Override
    public String toString() {
        String name = type.name().replaceAll("\\w+\\.", "");
        if (memory == null) {
            return name + (ref == GIVEN_AWAY ? " whose object was released" : " on no object");
        }
        return name + (inside == 0 ? " at " : " inside ") + Ref.describe(ref);
    }
}
