package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.Guard;
import dev.rackcall.sandbox.os.PageProtection;
import dev.rackcall.sandbox.os.PageProtector;
import dev.rackcall.sandbox.os.StoreBarrier;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeRuns;
import dev.rackcall.shm.ScopeSeal;
import dev.rackcall.shm.SealedScopeException;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/**
 * Seals the scopes of one arena. From {@link #seal} to the release, no store of this process changes their pages. The
 * receiver checks a seal and marks it done with its {@link SealedScopes}. Then the seal can be released, at once or
 * later in a batch with others.
 *
 * <p>A flyweight refuses a store to a sealed scope with a {@link SealedScopeException}. A store that bypasses the
 * flyweights (through a raw segment, or by a thread that was already storing when the scope was sealed) changes nothing
 * either. The JVM reports it late, with an {@link InternalError}, which {@link #guarded} turns into the same exception.
 * One kind of store is fatal to the JVM: an atomic operation (compare-and-set and the like) in code that is still
 * interpreted. Shared types make none.
 *
 * <p>With {@link #cooperative} this process closes the pages itself, which guards against bugs; hostile native code
 * could open them. With a {@link SealSession} another process closes them. Thread-safe, by one lock. Sealing and
 * releasing allocate nothing once warm, and no method waits longer than its caller allows.
 */
public final class Seals implements AutoCloseable {
    private static final int SPINS = 2_000;
    private static final long PAUSE_NANOS = 50_000;
    private static final int MAX_NAMED = 4;
    private static final ScopeSeal NO_SEAL = () -> false;
    /** All seals of this process that are not closed, to name the scope of a refused store. */
    private static final List<Seals> LIVE = new CopyOnWriteArrayList<>();

    private final Arena arena;
    private final SealAuthority table;
    private final int bound;
    /** Seals that the next batch releases. */
    private final SealSet batch;
    /** Seals whose receiver is done, but whose pages stay closed until the scope is used. */
    private final SealSet kept;

    private final Optional<Guard.Registration> registration;
    private final ScopeRuns runs = new ScopeRuns();
    private long[] refs = new long[4];
    private long[] lengths = new long[4];
    private final Held[] held;
    private final long[] single = new long[1];
    private boolean closed;
    /** A free object for the next seal, or null. */
    private Held spare;

    private Seals(Arena arena, SealAuthority authority, int bound) {
        this.arena = arena;
        this.table = authority;
        this.bound = bound;
        this.batch = new SealSet(table);
        this.kept = new SealSet(table);
        this.held = new Held[table.capacity()];
        MemorySegment memory = arena.memory();
        this.registration = Guard.installed().map(guard -> guard.register(memory.address(), memory.byteSize()));
    }

    /** Bytes of a ring of this many descriptors. Each run of a sealed scope takes one; there are at most 65,536. */
    public static long ringBytes(int descriptors) {
        return (long) descriptors * SealRingLayout.DESCRIPTOR_BYTES;
    }

    /** Bytes of the marks that belong to such a ring. */
    public static long marksBytes(int descriptors) {
        return (long) descriptors * SealRingLayout.MARK_BYTES;
    }

    /**
     * Seals whose pages this process closes and opens itself.
     *
     * @throws UnsupportedFeatureException if this host cannot write-protect that kind of memory; its message says what
     *     would help
     */
    public static Seals cooperative(SealSpec spec) {
        PageProtector protector = protector(spec);
        try {
            SealedArea area = SealedArea.of(spec.arena(), spec.pageBytes());
            SealTable table = new SealTable(spec.ring(), spec.marks(), protector, area);
            return of(spec.arena(), table, spec.batch());
        } catch (RuntimeException e) {
            protector.close();
            throw e;
        }
    }

    private static PageProtector protector(SealSpec spec) {
        MemorySegment memory = spec.arena().memory();
        if (spec.kind() == SharedFile.Kind.DAX) {
            // Without the guard, the first refused store would end the JVM.
            Guard.install();
            return PageProtection.of(memory.address(), memory.byteSize());
        }
        Userfault userfault = Userfault.open();
        try {
            userfault.register(memory.address(), memory.byteSize());
            return userfault;
        } catch (OsException e) {
            userfault.close();
            throw new UnsupportedFeatureException(
                    spec.arena() + " of " + spec.kind() + " memory cannot be sealed: " + e.getMessage(), e);
        }
    }

    /** Seals that {@code authority} holds. */
    static Seals of(Arena arena, SealAuthority authority, int batch) {
        Seals seals = new Seals(arena, authority, batch);
        LIVE.add(seals);
        return seals;
    }

    /** The seal as its scope sees it. Reused, so sealing allocates nothing. */
    private final class Held implements ScopeSeal {
        private Scope scope;
        private Object call;
        private long seal;
        private long bytes;
        private final OpenedPages opened = new OpenedPages();

        @Override
        public boolean openForStore(long ref, long objectBytes) {
            synchronized (Seals.this) {
                boolean isKept = !closed && kept.contains(seal) && scope.isOpen();
                return (isKept && opened.open(table, seal, Ref.offset(ref), objectBytes)) || releaseIfDone();
            }
        }

        @Override
        public boolean releaseIfDone() {
            synchronized (Seals.this) {
                // A closed scope can wait for its batch. A kept seal is released on the first use of its scope.
                boolean wanted = kept.contains(seal) || (batch.contains(seal) && scope.isOpen());
                if (closed || !wanted || !table.isDone(seal)) {
                    return false;
                }
                releaseNow(seal, SealRingLayout.FREE);
                return true;
            }
        }

        private Seals owner() {
            return Seals.this;
        }

        private void unseal() {
            Scope sealed = scope;
            scope = null;
            opened.forget();
            sealed.unseal();
        }

        @Override
        public String toString() {
            return String.valueOf(call);
        }
    }

    // ---- sealing

    /**
     * Closes a scope to stores. Its bytes do not change from the return of this method to the release.
     *
     * @param call describes the call that uses the scope; its {@code toString} appears in messages
     * @return the seal's number, never 0, for the receiver
     * @throws SealedScopeException if the scope is sealed already
     * @throws SealException if there is no room for more seals, or the kernel refuses; the scope is then as before
     */
    public synchronized long seal(Scope scope, Object call) {
        if (scope.arena() != arena) {
            throw new SealException("a scope of " + scope.arena() + " cannot be sealed with the seals of " + arena);
        }
        checkOpen();
        IsolationEvents.SealEvent event = IsolationEvents.sealBegins();
        Held keeper = keeperOf(scope);
        long seal = keeper == null ? 0 : renew(keeper, call);
        if (seal == 0) {
            keeper = sealAnew(scope, call);
            seal = keeper.seal;
        }
        IsolationEvents.sealed(event, arena.id(), keeper.bytes, call);
        return seal;
    }

    /** The kept seal of a scope that has not been used since its last call, or null. */
    private Held keeperOf(Scope scope) {
        return scope.sealedByOr(NO_SEAL) instanceof Held by
                        && by.owner() == this
                        && by.scope == scope
                        && kept.contains(by.seal)
                        && scope.isOpen()
                ? by
                : null;
    }

    /**
     * Renews the kept seal of a scope whose pages stayed closed since its last call. Returns its new number, or 0 if
     * the seal was released instead.
     */
    private long renew(Held by, Object call) {
        long renewed = by.opened.closeAgain(table) ? table.renew(by.seal) : 0;
        if (renewed == 0) {
            releaseNow(by.seal, SealRingLayout.FREE);
        } else {
            kept.remove(by.seal);
            batch.remove(by.seal);
            by.seal = renewed;
            by.call = call;
        }
        return renewed;
    }

    private Held sealAnew(Scope scope, Object call) {
        Held by = spare == null ? new Held() : spare;
        spare = null;
        by.call = call;
        scope.seal(by);
        long seal;
        try {
            readRuns(scope);
            seal = sealRuns();
        } catch (RuntimeException e) {
            scope.unseal();
            throw e;
        }
        by.scope = scope;
        by.seal = seal;
        by.bytes = runs.totalBytes();
        int index = SealRingLayout.index(seal);
        // The previous object of this index is free for the next seal.
        spare = held[index];
        held[index] = by;
        return by;
    }

    private void readRuns(Scope scope) {
        runs.read(arena, scope.firstRun());
        if (runs.count() > refs.length) {
            refs = new long[runs.count()];
            lengths = new long[runs.count()];
        }
        for (int i = 0; i < runs.count(); i++) {
            refs[i] = runs.ref(i);
            lengths[i] = runs.bytes(i);
        }
    }

    private long sealRuns() {
        try {
            return table.seal(refs, lengths, runs.count());
        } catch (SealException e) {
            if (flush() + releaseKept(0) == 0) {
                throw e;
            }
            return table.seal(refs, lengths, runs.count());
        }
    }

    // ---- releasing

    /** Whether the receiver is done with a seal; false if it was released. */
    public synchronized boolean isDone(long seal) {
        return table.isDone(seal);
    }

    /**
     * Releases a seal whose receiver is done: opens the scope again.
     *
     * @throws SealException if the receiver is not done, or if this seal is not in force
     */
    public void release(long seal) {
        if (!tryRelease(seal)) {
            throw notDone(seal, "");
        }
    }

    /**
     * As {@link #release(long)}, but waits for the receiver.
     *
     * @throws SealException if the receiver is not done by then. The scope stays sealed: call again, {@link #revoke}
     *     the seal, or close the scope and continue without its memory
     */
    public void release(long seal, Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        for (int spins = 0; !tryRelease(seal); spins++) {
            if (deadline - System.nanoTime() <= 0) {
                throw notDone(seal, " within " + patience.toMillis() + " ms");
            }
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    /**
     * As {@link #release(long)}, but returns false if the receiver is not done.
     *
     * @throws SealException if this seal is not in force
     */
    public synchronized boolean tryRelease(long seal) {
        checkHeld(seal);
        if (!table.isDone(seal)) {
            return false;
        }
        releaseNow(seal, SealRingLayout.FREE);
        return true;
    }

    private synchronized SealException notDone(long seal, String when) {
        Object call = held[SealRingLayout.index(seal)].call;
        return new SealException("the receiver of " + SealRingLayout.describe(seal) + ", a scope of " + arena + " for "
                + call + ", has not marked it done" + when
                + "; wait longer, close the scope and go on without its memory, or revoke the seal");
    }

    /**
     * Releases the seal in a later batch, the first one that finds the receiver done. If the scope is used before that
     * and the receiver is done, the seal is released at once.
     *
     * @throws SealException if this seal is not in force
     */
    public synchronized void releaseLater(long seal) {
        checkHeld(seal);
        batch.add(seal);
        if (batch.exceeds(bound - 1)) {
            flush();
        }
    }

    /**
     * Releases the waiting seals whose receivers are done, with one system call for each group of neighbours. Returns
     * their number.
     */
    public synchronized int flush() {
        int done = batch.takeDone();
        if (done > 0) {
            release(batch.taken(), done, SealRingLayout.FREE);
        }
        return done;
    }

    /**
     * Releases a seal whose receiver is done, but leaves its pages closed until the scope is used. A store by a
     * flyweight, an allocation, a reset or a close opens them; until then the next {@link #seal} of the scope costs no
     * system call. In a scope of 64 pages or more, a store opens only the pages of its object, if they are few; the
     * next {@link #seal} closes them again. {@link SealSpec#batch} limits the kept seals and their pages. If it is
     * exceeded, all except the latest seal are released together.
     *
     * <p>A scope whose memory was handed out ({@link Scope#isExposed}) is released at once. A seal whose receiver is
     * not done is left to a later batch ({@link #releaseLater}).
     *
     * @throws SealException if this seal is not in force
     */
    public synchronized void releaseWhenUsed(long seal) {
        checkHeld(seal);
        if (!table.isDone(seal)) {
            releaseLater(seal);
            return;
        }
        Scope scope = held[SealRingLayout.index(seal)].scope;
        if (scope.isExposed() || !scope.isOpen()) {
            releaseNow(seal, SealRingLayout.FREE);
            return;
        }
        kept.add(seal);
        // The latest seal is kept at any size: a large scope that is passed repeatedly saves the most.
        if (kept.size() > 1 && kept.exceeds(bound)) {
            releaseKept(seal);
        }
    }

    private int releaseKept(long excepted) {
        int taken = kept.takeAllBut(excepted);
        if (taken > 0) {
            release(kept.taken(), taken, SealRingLayout.FREE);
        }
        return taken;
    }

    /** Number of seals that {@link #releaseWhenUsed} keeps. */
    public synchronized int kept() {
        return kept.size();
    }

    /** Number of seals that wait for the next batch. */
    public synchronized int waiting() {
        return batch.size();
    }

    /**
     * Takes a seal back from a receiver that hangs or is dead. The receiver's {@link SealedScopes#markDone} then
     * returns false; the receiver must discard all it read under the seal. Seals that a {@link SealHolder} holds cannot
     * be revoked: only their receiver can end them.
     *
     * @throws SealException if this seal is not in force, or if a holder holds it
     */
    public synchronized void revoke(long seal) {
        checkHeld(seal);
        releaseNow(seal, SealRingLayout.REVOKED);
    }

    private void releaseNow(long seal, int endState) {
        single[0] = seal;
        release(single, 1, endState);
    }

    private void release(long[] seals, int count, int endState) {
        IsolationEvents.ReleaseEvent event = IsolationEvents.releaseBegins();
        int passes;
        try {
            passes = table.release(seals, count, endState);
        } catch (OsException e) {
            throw new SealException("seals of " + arena + " cannot be released: " + e.getMessage(), e);
        } catch (SealException e) {
            if (table.hasEnded()) {
                end();
                return;
            }
            throw e;
        }
        for (int i = 0; i < count; i++) {
            batch.remove(seals[i]);
            kept.remove(seals[i]);
            held[SealRingLayout.index(seals[i])].unseal();
        }
        IsolationEvents.released(event, arena.id(), count, passes, endState == SealRingLayout.REVOKED);
    }

    private void checkHeld(long seal) {
        checkOpen();
        if (!table.isHeld(seal)) {
            throw new SealException(SealRingLayout.describe(seal) + " is not in force; was it released before?");
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new SealException("the seals of " + arena + " ended with their connection");
        }
    }

    // ---- violations

    /**
     * Runs code that may store to sealed scopes without flyweights, and turns the JVM's error for such a store into a
     * {@link SealedScopeException}. Costs about 30 ns.
     *
     * @throws SealedScopeException if a store was refused; the effects of {@code action} after that store remain
     */
    public static void guarded(Runnable action) {
        try {
            action.run();
            StoreBarrier.now();
        } catch (InternalError e) {
            throw explain(e);
        }
    }

    /**
     * Explains the JVM's error after a refused store. Call it in the thread that stored. The returned exception names
     * the scope and its call if the {@link Guard} is installed, else all sealed scopes.
     *
     * @throws InternalError {@code error} itself, if nothing is sealed: then it has another cause
     */
    public static SealedScopeException explain(InternalError error) {
        // Only the guard records the address.
        OptionalLong address = Guard.installed().map(Guard::takeFault).orElse(OptionalLong.empty());
        List<String> names = new ArrayList<>();
        boolean opened = false;
        for (Seals seals : LIVE) {
            opened |= seals.nameSealed(address, names);
        }
        if (names.isEmpty()) {
            throw error;
        }
        String all = String.join("; ", names.subList(0, Math.min(MAX_NAMED, names.size())))
                + (names.size() > MAX_NAMED ? "; and " + (names.size() - MAX_NAMED) + " more" : "");
        IsolationEvents.violation(IsolationEvents.Violation.SEAL, all, "a store past the flyweights");
        return new SealedScopeException(
                "a store was refused and changed nothing: "
                        + (address.isPresent() ? "it was to " : "it was to a sealed scope; sealed are ") + all
                        + (opened
                                ? "; pages stay closed after a call until the scope is used by its objects, and those are open"
                                        + " now: store again"
                                : "; wait until that call has ended before you change the scope or pass it sealed again, or use another"),
                error);
    }

    /**
     * Adds the names of all sealed scopes, or only of the one at {@code address}, if present. Opens a named scope whose
     * call has ended, so the store can be repeated.
     *
     * @return whether a scope was opened
     */
    private synchronized boolean nameSealed(OptionalLong address, List<String> names) {
        if (closed) {
            return false;
        }
        boolean opened = false;
        long offset = address.isPresent() ? address.getAsLong() - arena.memory().address() : 0;
        for (int i = 0; i < held.length; i++) {
            Held by = held[i];
            if (by != null && by.scope != null && (address.isEmpty() || table.holds(i, offset))) {
                boolean isKept = kept.contains(by.seal);
                names.add("a scope of " + arena + ", sealed by " + by.call + (isKept ? ", which has ended" : ""));
                if (isKept) {
                    releaseNow(by.seal, SealRingLayout.FREE);
                    opened = true;
                }
            }
        }
        return opened;
    }

    /** Opens all pages and unseals all scopes, also of receivers that are not done. Idempotent. */
    private void end() {
        closed = true;
        table.close();
        for (Held by : held) {
            if (by != null && by.scope != null) {
                by.unseal();
            }
        }
        LIVE.remove(this);
        registration.ifPresent(Guard.Registration::close);
    }

    /**
     * Opens all pages and unseals all scopes, also of receivers that are not done. Call it at the end of the connection
     * or pool, before its memory is unmapped. Idempotent.
     */
    @Override
    public synchronized void close() {
        if (!closed) {
            end();
        }
    }
}
