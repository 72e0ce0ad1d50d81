package dev.rackcall.shm.types;

import dev.rackcall.shm.EndedMemoryException;
import dev.rackcall.shm.ReadOnlyObjectException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeException;
import dev.rackcall.shm.StaleObjectException;
import dev.rackcall.shm.os.file.Mapping;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * A flyweight: refers to a place in an arena that was checked to hold a whole object of its type. Base class of the
 * containers and, through {@link SharedRecord}, of generated classes.
 *
 * <p>Methods for users are static here, so that interfaces are free to use any field names. Two flyweights are equal if
 * they are on the same object. The hash code changes when a flyweight moves. Not thread-safe.
 */
public abstract class SharedObject {
    /** Marks a flyweight after {@link #leave}. Not a valid Ref, since no arena has id 0. */
    private static final long GIVEN_AWAY = 1;

    private final SharedType<?> type;
    private final boolean hearsOfMoves;
    private RefSpace space;
    private MemorySegment memory;
    private Scope scope;

    /** The object under this flyweight, or the object that contains it; 0 or {@link #GIVEN_AWAY} if there is none. */
    private long ref;

    private long base;

    /** Checked length of the object, or of the part under this flyweight, each with a header. */
    private int bytes = ObjectLayout.HEADER_BYTES;

    /** Offset of an embedded part in its object; 0 for a whole object. */
    private long inside;

    /** Creates a flyweight that is on no object yet. */
    SharedObject(SharedType<?> type) {
        this(type, false);
    }

    /** @param hearsOfMoves whether to call {@link #placed} */
    SharedObject(SharedType<?> type, boolean hearsOfMoves) {
        this.type = type;
        this.hearsOfMoves = hearsOfMoves;
    }

    /**
     * The Ref of a shared object.
     *
     * @throws IllegalArgumentException if it is not a shared object, does not represent an object yet, or is embedded
     *     in another one ({@link Inline}, {@link SharedInlineArray})
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
     * The Ref of a shared object, after checking that its scope is still open. Use it when the receiver cannot check
     * that.
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
     * Takes a flyweight off its object, whose memory was given away. From now on every access throws an {@link
     * IllegalStateException} until the flyweight is moved. Other flyweights stay on the object.
     */
    public static void leave(Object sharedObject) {
        SharedObject object = of(sharedObject);
        object.memory = null;
        object.space = null;
        object.scope = null;
        object.ref = GIVEN_AWAY;
    }

    /** As {@link Releasable#close}. */
    static void release(Object sharedObject) {
        SharedObject object = of(sharedObject);
        if (object.memory != null && object.space.release(object)) {
            leave(object);
        }
    }

    /** Whether {@link #leave} was called since the flyweight's last move. */
    public static boolean hasLeft(Object sharedObject) {
        SharedObject object = of(sharedObject);
        return object.memory == null && object.ref == GIVEN_AWAY;
    }

    /** The space that follows the Refs of a shared object. */
    public static RefSpace spaceOf(Object sharedObject) {
        SharedObject object = of(sharedObject);
        if (object.memory == null) {
            throw new IllegalStateException(object.nowhere());
        }
        // Not attachedSpace(): the object may have been freed.
        return object.space;
    }

    /**
     * Whether it is embedded in another object ({@link Inline}, {@link SharedInlineArray}), and so has no Ref of its
     * own.
     */
    public static boolean isEmbedded(Object sharedObject) {
        return of(sharedObject).inside != 0;
    }

    /**
     * The scope in which a shared object's setters allocate: the one that created it, or with which it was attached.
     */
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

    /** Moves this flyweight to an object after checking it. On failure it stays where it was. */
    final void bind(RefSpace newSpace, Scope newScope, long newRef) {
        RefSpace.Window window = newSpace.follow(newRef);
        long newBase = window.at(newRef);
        int bytes = type.checkedBytes(window, newBase, newRef);
        place(newSpace, newScope, window.memory(), newRef, newBase, 0, bytes);
    }

    /** Writes the header of a new object and moves this flyweight to it. */
    final void create(Scope owner, long newRef, int bytes) {
        MemorySegment newMemory = owner.arena().memory();
        long newBase = Ref.offset(newRef);
        newMemory.set(ObjectLayout.LONG, newBase, ObjectLayout.header(type.typeId(), bytes));
        type.created(newMemory, newBase);
        place(owner.space(), owner, newMemory, newRef, newBase, 0, bytes);
    }

    /** Moves this flyweight to an embedded part of {@code owner}, which has no header. */
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
            int newBytes) {
        // Storing a reference costs a garbage collector's barrier, and most moves stay in the same arena.
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
        bytes = newBytes;
        if (hearsOfMoves) {
            placed();
        }
    }

    /** A flyweight on an object that this one refers to, see {@link SharedType#attach(RefSpace, long)}. */
    final <T> T attachTo(SharedType<T> target, long referred) {
        try {
            return target.attach(attachedSpace(), scope, referred);
        } catch (RefException e) {
            throw causeOf(e);
        }
    }

    /** Moves a flyweight to an object that this one refers to, see {@link SharedType#move(Object, RefSpace, long)}. */
    final <T> boolean moveTo(SharedType<T> target, T into, long referred) {
        try {
            return target.move(into, attachedSpace(), scope, referred);
        } catch (RefException e) {
            throw causeOf(e);
        }
    }

    /**
     * The reason why a reference in this object cannot be followed: {@code found}, unless this object itself was freed.
     */
    final RefException causeOf(RefException found) {
        if (found instanceof StaleObjectException) {
            return found;
        }
        try {
            space.window(ref);
            return found;
        } catch (RefException e) {
            return stale(e);
        }
    }

    /** The text of a string that this object refers to. */
    final String textOf(long referred) {
        try {
            return SharedString.read(attachedSpace(), referred);
        } catch (RefException e) {
            throw causeOf(e);
        }
    }

    /**
     * Called after every move of a flyweight that asked for it. Most do not ask: this virtual call takes longer than all
     * stores of a move.
     */
    void placed() {}

    // For the containers

    final SharedType<?> type() {
        return type;
    }

    final long base() {
        return base;
    }

    final int bytes() {
        return bytes;
    }

    final Scope scope() {
        return scope;
    }

    final RefSpace attachedSpace() {
        if (memory == null) {
            throw new IllegalStateException(nowhere());
        }
        assert isLive();
        return space;
    }

    final boolean isNowhere() {
        return memory == null;
    }

    /** The arena under this flyweight. Compiled code does the null check for free. */
    final MemorySegment memory() {
        MemorySegment attached = memory;
        if (attached == null) {
            throw new IllegalStateException(nowhere());
        }
        // The access checks this, too, but its exception would not name the connection. Compiled code checks once.
        if (!attached.scope().isAlive()) {
            throw ended(attached);
        }
        assert isLive();
        return attached;
    }

    private EndedMemoryException ended(MemorySegment attached) {
        return new EndedMemoryException(describe() + " cannot be used any more: " + Mapping.ownerOf(attached)
                + " has ended, and its memory with it; " + Mapping.adviceOf(attached));
    }

    /** Returns true, or throws if the object's memory was freed. Called only if assertions are enabled. */
    private boolean isLive() {
        try {
            space.window(ref);
            return true;
        } catch (RefException e) {
            throw stale(e);
        }
    }

    /**
     * The exception for a value that no correct peer writes: this object is damaged, unless it was freed and the value
     * is another object's.
     */
    final RuntimeException damaged(String message) {
        try {
            space.window(ref);
            return new SharedDataException(message);
        } catch (RefException e) {
            return stale(e);
        }
    }

    private StaleObjectException stale(RefException why) {
        StaleObjectException stale =
                new StaleObjectException(describe() + " was used after its memory was freed: " + why.getMessage());
        stale.initCause(why);
        return stale;
    }

    /**
     * The arena, for a store. If another thread seals the scope after this check, the store fails on write-protected
     * pages. The check only provides a clear exception.
     *
     * @throws SealedScopeException if a call has the object's scope sealed
     * @throws ReadOnlyObjectException if the object may only be read
     */
    final MemorySegment writable() {
        Scope owner = scope;
        if (owner != null && owner.hasSeal()) {
            owner.checkStore(ref, objectBytes());
        }
        MemorySegment attached = memory();
        // The store would check this anyway, but its exception would not name the object.
        if (attached.isReadOnly()) {
            throw readOnly();
        }
        return attached;
    }

    private ReadOnlyObjectException readOnly() {
        return new ReadOnlyObjectException(describe()
                + " may only be read here, since it belongs to the other side of a call. A handler may store into its"
                + " arguments if the method declares @Rpc(writes = true); otherwise change a copy made by"
                + " DeepCopy.DEFAULT.copy");
    }

    /** Length of the object under this flyweight, or of the object that contains it, according to the header. */
    private long objectBytes() {
        long header = inside == 0 ? base : base - inside + ObjectLayout.HEADER_BYTES;
        return ObjectLayout.bytes(memory().get(ObjectLayout.LONG, header));
    }

    final Scope allocatingScope(String what) {
        if (memory().isReadOnly()) {
            throw readOnly();
        }
        if (scope == null) {
            throw new ScopeException(
                    what + ": " + describe() + " was not created here, so there is no scope to allocate in;"
                            + " attach it with a scope, or copy it with DeepCopy.DEFAULT.copy; a handler allocates in"
                            + " RpcContext.replyScope()");
        }
        return scope;
    }

    private String nowhere() {
        return describe() + (ref == GIVEN_AWAY ? "; read it before you release it" : " yet; move it first");
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
        return describe();
    }

    /** The object's type and place, without reading its memory: exceptions about that memory need it. */
    final String describe() {
        String name = type.name().replaceAll("\\w+\\.", "");
        if (memory == null) {
            return name + (ref == GIVEN_AWAY ? " whose object was released" : " on no object");
        }
        return name + (inside == 0 ? " at " : " inside ") + Ref.describe(ref);
    }
}
