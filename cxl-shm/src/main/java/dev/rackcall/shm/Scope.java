package dev.rackcall.shm;

import dev.rackcall.shm.os.ByteSize;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Locale;
import java.util.Optional;

/**
 * The unit of ownership: a piece of an arena in which objects are allocated one after the other and freed all at once.
 * A scope consists of runs of whole pages. It grows by adding runs, usually each twice as long as the one before, so
 * objects never move.
 *
 * <p>A scope belongs to the thread that opened it. Other threads may only {@link #close} it, after {@link #detach}.
 * Closing or resetting a scope makes all Refs into it stale in every process. A flyweight that is already on an object
 * is not checked again and reads whatever the memory then holds. A peer over RDMA sees a scope as it was when last
 * passed, and is notified of its end with the next object that is passed. When a process dies, the memory of its open
 * scopes is reclaimed.
 */
public final class Scope implements AutoCloseable {
    private enum State {
        OPEN,
        SEALED,
        /** Closed while sealed; freed once it is unsealed. */
        SEALED_CLOSED,
        DETACHED,
        TAKEN_OVER,
        CLOSED
    }

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Scope.class, "state", State.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Arena arena;
    private final RefSpace space;
    private final Thread owner;
    private final RunChain runs;
    /** Created once, because each isolated call needs it. */
    private final Optional<Scope> present = Optional.of(this);

    private volatile State state = State.OPEN;
    /**
     * The seal, or null. Read without ordering: if a check misses it, the store still fails on the write-protected
     * pages.
     */
    private ScopeSeal sealedBy;
    /** Whether segments of its memory were handed out, through which stores bypass the scope. */
    private boolean exposed;
    /** Called before the memory is reused; may be null. Set before the scope is used. */
    private ScopeEnd end;

    private Scope(Arena arena, RefSpace space) {
        this.arena = arena;
        this.space = space;
        this.owner = Thread.currentThread();
        this.runs = new RunChain(arena);
    }

    static Scope open(Arena arena, long firstBytes, RefSpace space) {
        Scope scope = new Scope(arena, space);
        scope.runs.begin(firstBytes);
        return scope;
    }

    static Scope adopt(Arena arena, long ref, int from, RefSpace space) {
        Scope scope = new Scope(arena, space);
        scope.state = State.DETACHED;
        try {
            scope.runs.takeOver(ref, from);
            return scope;
        } catch (RuntimeException e) {
            // Frees the runs that were taken over before the chain proved broken; nothing else owns them.
            scope.close();
            throw e;
        }
    }

    /**
     * Allocates zeroed, 8-byte-aligned memory for one object.
     *
     * @return its Ref
     * @throws OutOfArenaException if the arena is full
     * @throws IllegalArgumentException if {@code bytes} is negative
     * @throws ScopeException if the scope is not open, belongs to another thread, or its connection or pool has ended
     */
    public long allocate(long bytes) {
        checkUse();
        return runs.allocate(bytes);
    }

    /**
     * Creates a shared object with all fields zero.
     *
     * @throws IllegalArgumentException if {@code type} is neither a {@code @Shared} interface with a generated class
     *     nor a container
     */
    public <T> T create(Class<T> type) {
        return SharedFactory.of(type).create(this);
    }

    private void checkUse() {
        if (Thread.currentThread() != owner) {
            throw new ScopeException("a scope of " + arena + " belongs to thread " + owner.getName() + ", not to "
                    + Thread.currentThread().getName() + "; open one scope per thread");
        }
        if (state != State.OPEN && !releasedNow()) {
            if (isSealed()) {
                throw sealed();
            }
            throw new ScopeException("a scope of " + arena + " was used after it was " + ended() + "; open a new one");
        }
    }

    private String ended() {
        return switch (state) {
            case DETACHED -> "detached";
            case TAKEN_OVER -> "taken over by another participant";
            default -> "closed";
        };
    }

    /**
     * Frees all objects and keeps the first run for new ones. Refs into the scope become stale.
     *
     * @throws ScopeException as {@link #allocate}, or if another participant took the scope over, which ends the scope
     *     here
     * @throws OutOfArenaException in an arena of several participants that is full, if the first run had to be
     *     allocated again (once in 255 resets); the scope is then closed
     */
    public void reset() {
        checkUse();
        if (end != null && !end.resets(runs.first())) {
            throw new ScopeException("a scope of " + arena
                    + " cannot be reset: its readers could not be notified; close it and open a new one");
        }
        try {
            runs.reset();
            exposed = false;
        } catch (ScopeException e) {
            // If the memory is unmapped, the scope was not taken over.
            if (arena.memory().scope().isAlive()) {
                state = State.TAKEN_OVER;
                tellEnd();
            }
            throw e;
        } catch (OutOfArenaException e) {
            state = State.CLOSED;
            tellEnd();
            throw e;
        }
        if (end != null) {
            end.begins(runs.first());
        }
    }

    /**
     * Registers a listener that is called before the scope's memory is reused. Call this once, directly after opening
     * the scope.
     *
     * @throws ScopeException if the scope is not open
     */
    public void onEnd(ScopeEnd listener) {
        checkUse();
        end = listener;
    }

    private void free() {
        if (tellEnd()) {
            runs.free();
        }
    }

    /** Returns whether the memory may be reused. */
    private boolean tellEnd() {
        return end == null || end.ends(runs.first());
    }

    /** Gives up the thread's ownership. From now on, the scope can only be closed, by any thread. */
    public void detach() {
        checkUse();
        state = State.DETACHED;
    }

    /** Whether it is neither closed nor detached. */
    public boolean isOpen() {
        State now = state;
        return now == State.OPEN || now == State.SEALED;
    }

    // ---- seals

    /**
     * Seals the scope; call it before write-protecting its pages. Until {@link #unseal}, allocating and resetting are
     * refused and {@link #close} is deferred. Any thread may call this while no other thread uses the scope.
     *
     * @param by the seal; it is called before a use of the scope is refused
     * @throws SealedScopeException if it is sealed already
     * @throws ScopeException if it is closed or detached
     */
    public void seal(ScopeSeal by) {
        if (!STATE.compareAndSet(this, State.OPEN, State.SEALED)
                && !(releasedNow() && STATE.compareAndSet(this, State.OPEN, State.SEALED))) {
            throw isSealed()
                    ? sealed()
                    : new ScopeException("a scope of " + arena + " cannot be sealed for " + by
                            + ": it was closed or detached; open a new one");
        }
        sealedBy = by;
    }

    /**
     * Removes the seal; call it once the pages are writable again. Frees the scope if it was closed in the meantime.
     * Any thread may call it. Idempotent.
     */
    public void unseal() {
        sealedBy = null;
        // Release: the scope's next user sees its pages writable. Pairs with the volatile read of the state.
        if (!STATE.compareAndSet(this, State.SEALED, State.OPEN)
                && STATE.compareAndSet(this, State.SEALED_CLOSED, State.CLOSED)) {
            free();
        }
    }

    /** Whether a call has the scope sealed, even if the scope was closed since. */
    public boolean isSealed() {
        State now = state;
        return now == State.SEALED || now == State.SEALED_CLOSED;
    }

    /** The current seal, or {@code otherwise} if there is none. */
    public ScopeSeal sealedByOr(ScopeSeal otherwise) {
        ScopeSeal by = sealedBy;
        return by == null ? otherwise : by;
    }

    /**
     * Records that a segment of the scope's memory was handed out, through which stores can bypass the scope. Until the
     * next {@link #reset}, seals are lifted as soon as possible.
     */
    public void expose() {
        exposed = true;
        releasedNow();
    }

    /**
     * Whether segments of its memory were handed out ({@code SharedBytes.segment}), through which stores can bypass the
     * scope.
     */
    public boolean isExposed() {
        return exposed;
    }

    /** Ref of the scope's first run; {@link ScopeRuns#read} starts from it. */
    public long firstRun() {
        return runs.first();
    }

    /**
     * Whether a call has the scope sealed, or had until just now. If so, call {@link #checkStore} before a store.
     * Cheap.
     */
    public boolean hasSeal() {
        return sealedBy != null;
    }

    /**
     * Makes the pages of an object writable for a store, if the call that sealed them has ended.
     *
     * @throws SealedScopeException if that call still needs the seal
     */
    public void checkStore(long ref, long bytes) {
        ScopeSeal by = sealedBy;
        if (isSealed() && holds(ref)) {
            // The seal opens the whole scope or only these pages. It opens nothing if the scope was closed in the
            // meantime.
            if (by == null || !by.openForStore(ref, bytes) || !isOpen()) {
                throw sealed();
            }
        }
    }

    /** Releases the seal if its call has ended. Returns whether that opened the scope. */
    private boolean releasedNow() {
        ScopeSeal by = sealedBy;
        return by != null && by.releaseIfDone() && state == State.OPEN;
    }

    private SealedScopeException sealed() {
        return new SealedScopeException(
                "a scope of " + arena + ", " + ByteSize.describe(runs.bytes()) + " at offset 0x"
                        + Long.toHexString(Ref.offset(runs.first())) + ", is sealed by " + sealedBy
                        + "; wait until that call has ended before you change the scope or pass it sealed again, or use another");
    }

    /** This scope as an {@code Optional}, without allocating one. */
    public Optional<Scope> present() {
        return present;
    }

    public Arena arena() {
        return arena;
    }

    @Override
    public String toString() {
        return "scope of " + arena + ", " + ByteSize.describe(runs.bytes()) + ", "
                + state.name().toLowerCase(Locale.ROOT).replace('_', ' ') + ", of thread " + owner.getName();
    }

    /** The space that follows the Refs in objects of this scope. */
    public RefSpace space() {
        return space;
    }

    /** Whether an object allocated since the last reset could lie at {@code ref}. */
    public boolean holds(long ref) {
        return runs.holds(ref);
    }

    /** Bytes of arena memory that the scope holds, in whole pages. */
    public long bytesHeld() {
        return runs.bytes();
    }

    /**
     * Frees everything, except memory that another participant took over and memory that is no longer mapped. If a call
     * has the scope sealed, the memory is freed when that call ends. Idempotent.
     */
    @Override
    public void close() {
        if (state == State.OPEN) {
            checkUse();
        }
        closeForOwner();
    }

    /**
     * Closes the scope in place of its thread, for a runtime that cleans up after a call. The caller must know that the
     * owner no longer uses the scope, and must have synchronised with the owner since its last use. Idempotent.
     */
    public void closeForOwner() {
        if (STATE.compareAndSet(this, State.SEALED, State.SEALED_CLOSED)) {
            releasedNow();
            return;
        }
        // If several threads close a detached scope, only the first frees it.
        if (STATE.compareAndSet(this, State.OPEN, State.CLOSED)
                || STATE.compareAndSet(this, State.DETACHED, State.CLOSED)) {
            free();
        }
    }
}
