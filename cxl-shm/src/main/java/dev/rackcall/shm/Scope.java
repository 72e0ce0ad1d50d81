package dev.rackcall.shm;

import dev.rackcall.shm.os.ByteSize;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Locale;
import java.util.Optional;

/**
 * A piece of an arena in which objects are allocated one behind the other and freed all at once: the unit of ownership. It consists of runs of
 * whole pages, each at least twice as long as the one before, so that it grows without moving.
 *
 * <p>A scope belongs to the thread that opened it; any other use than {@link #close} after {@link #detach} is refused elsewhere. Closing or
 * resetting it makes all Refs into it stale, in every process; objects that were reached before are not looked at again, so who reads on in one of them
 * reads what lies there now. A peer by RDMA learns of it with the next object that is passed to it, and
 * sees of each scope what it was when that was last passed.
 * Memory that its process does not close is reclaimed when the process has died.
 */
public final class Scope implements AutoCloseable {
    private enum State {
        OPEN,
        SEALED,
        /** Closed while it was sealed: freed once it is unsealed. */
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
    /** Made once, since each isolated call asks for it. */
    private final Optional<Scope> present = Optional.of(this);

    private volatile State state = State.OPEN;
    /** What has the scope sealed, else null. Read without order: who stores in spite of it meets write-protected pages. */
    private ScopeSeal sealedBy;
    /** Whether somebody may store to it without asking it. */
    private boolean exposed;
    /** Who is to hear before its memory is used for something else; null: nobody. Set before the scope is used. */
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
            // What was taken over before the chain turned out to be broken has no other owner any more.
            scope.close();
            throw e;
        }
    }

    /**
     * Room for one object: zeroed, 8-aligned.
     *
     * @return its Ref
     * @throws OutOfArenaException if the arena is full
     * @throws IllegalArgumentException if {@code bytes} is negative
     * @throws ScopeException if the scope is not open, belongs to another thread, or its memory is gone with its connection or pool
     */
    public long allocate(long bytes) {
        checkUse();
        return runs.allocate(bytes);
    }

    /**
     * A new shared object, all zero.
     *
     * @throws IllegalArgumentException if {@code type} is neither a {@code @Shared} interface with a generated class nor a container
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
     * Frees all objects and keeps the first run for new ones. Refs into the scope go stale.
     *
     * @throws ScopeException as {@link #allocate}, or if another participant has taken the scope over: it cannot be used any more then
     * @throws OutOfArenaException if its memory had to be allocated anew, as once in 255 times, in an arena of several participants that is full by now: the scope is closed then
     */
    public void reset() {
        checkUse();
        if (end != null && !end.ends(runs.first())) {
            throw new ScopeException("a scope of " + arena
                    + " cannot be reset: those who may still read it could not be told; close it and open a new one");
        }
        try {
            runs.reset();
            exposed = false;
        } catch (ScopeException e) {
            // Unless the memory is gone.
            if (arena.memory().scope().isAlive()) {
                state = State.TAKEN_OVER;
            }
            throw e;
        } catch (OutOfArenaException e) {
            state = State.CLOSED;
            throw e;
        }
        if (end != null) {
            end.begins(runs.first());
        }
    }

    /**
     * Has somebody told each time before the scope's memory is freed or reset. To be called once, by whoever opened the scope, before anybody uses it.
     *
     * @throws ScopeException if the scope is not open
     */
    public void onEnd(ScopeEnd listener) {
        checkUse();
        end = listener;
    }

    private void free() {
        if (end == null || end.ends(runs.first())) {
            runs.free();
        }
    }

    /** Gives up the thread's claim: from now on the scope can only be closed, by any one thread. */
    public void detach() {
        checkUse();
        state = State.DETACHED;
    }

    /** Whether it was neither closed nor detached. */
    public boolean isOpen() {
        State now = state;
        return now == State.OPEN || now == State.SEALED;
    }

    // ---- seals

    /**
     * For whoever write-protects the scope's pages, before it does: from now on allocating and resetting are refused, and {@link #close} waits for
     * {@link #unseal}. May be called by any thread, while no other uses the scope.
     *
     * @param by asked before a use of the scope is refused
     * @throws SealedScopeException if it is sealed already
     * @throws ScopeException if it is closed or detached
     */
    public void seal(ScopeSeal by) {
        if (!STATE.compareAndSet(this, State.OPEN, State.SEALED)
                && !(releasedNow() && STATE.compareAndSet(this, State.OPEN, State.SEALED))) {
            throw isSealed()
                    ? sealed()
                    : new ScopeException("a scope of " + arena + " was to be sealed for " + by
                            + " after it was closed or detached; open a new one");
        }
        sealedBy = by;
    }

    /** Ends {@link #seal}, once the pages are open again; frees the scope if it was closed meanwhile. Any thread may call it. Idempotent. */
    public void unseal() {
        sealedBy = null;
        // Release, so that the scope's next user sees its pages open; pairs with the volatile read of the state.
        if (!STATE.compareAndSet(this, State.SEALED, State.OPEN)
                && STATE.compareAndSet(this, State.SEALED_CLOSED, State.CLOSED)) {
            free();
        }
    }

    /** Whether a call has it sealed, also if it was closed since. */
    public boolean isSealed() {
        State now = state;
        return now == State.SEALED || now == State.SEALED_CLOSED;
    }

    /** What has it sealed, or {@code otherwise} if nothing has. */
    public ScopeSeal sealedByOr(ScopeSeal otherwise) {
        ScopeSeal by = sealedBy;
        return by == null ? otherwise : by;
    }

    /**
     * Notes that a piece of its memory was handed out, to which anybody may store without asking the scope. From then on, until a {@link #reset}, its seals
     * are lifted as soon as they may be.
     */
    public void expose() {
        exposed = true;
        releasedNow();
    }

    /** Whether pieces of its memory were handed out ({@code SharedBytes.segment}), to which one can store without asking the scope. */
    public boolean isExposed() {
        return exposed;
    }

    /** Ref of the scope's first run: what {@link ScopeRuns#read} starts from. */
    public long firstRun() {
        return runs.first();
    }

    /** Whether a call has the scope sealed, or had it sealed until just now: if so, call {@link #checkStore} before a store. Cheap. */
    public boolean hasSeal() {
        return sealedBy != null;
    }

    /**
     * Opens the pages of an object for a store, if the call that sealed them has ended.
     *
     * @throws SealedScopeException if that call still needs the seal
     */
    public void checkStore(long ref, long bytes) {
        ScopeSeal by = sealedBy;
        if (isSealed() && holds(ref)) {
            // The seal opens the whole scope or only these pages. It opens nothing if the scope was closed meanwhile.
            if (by == null || !by.openForStore(ref, bytes) || !isOpen()) {
                throw sealed();
            }
        }
    }

    /** Whether the scope was sealed, but could be unsealed, since the call that had it is done. */
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

    /** What Refs in this scope's objects may lead to. */
    public RefSpace space() {
        return space;
    }

    /** Whether an object of this scope, since its last reset, could lie at {@code ref}. */
    public boolean holds(long ref) {
        return runs.holds(ref);
    }

    /** Bytes of arena memory that the scope holds, in whole pages. */
    public long bytesHeld() {
        return runs.bytes();
    }

    /**
     * Frees everything. Memory that somebody has taken over meanwhile is left alone, and so is memory that is no longer mapped, since it went
     * with its connection or pool. A scope that a call has sealed is freed when that call has ended. Idempotent.
     */
    @Override
    public void close() {
        if (state == State.OPEN) {
            checkUse();
        }
        closeForOwner();
    }

    /**
     * Closes the scope in place of its thread, for a runtime that ends what a call has left open. The caller knows that the owner no longer uses
     * the scope, and has synchronised with it since it did. Idempotent.
     */
    public void closeForOwner() {
        if (STATE.compareAndSet(this, State.SEALED, State.SEALED_CLOSED)) {
            releasedNow();
            return;
        }
        // Of several threads that close a detached scope, only one does.
        if (STATE.compareAndSet(this, State.OPEN, State.CLOSED)
                || STATE.compareAndSet(this, State.DETACHED, State.CLOSED)) {
            free();
        }
    }
}
