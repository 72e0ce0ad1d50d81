package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.Guard;
import dev.rackcall.sandbox.os.PageProtection;
import dev.rackcall.sandbox.os.PageProtector;
import dev.rackcall.sandbox.os.Settle;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeRuns;
import dev.rackcall.shm.ScopeSeal;
import dev.rackcall.shm.SealedScopeException;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.SharedFile;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Seals the scopes of one arena: from {@link #seal} to the release no store of this process changes their pages. A receiver checks a seal and marks
 * it done by its {@link SealedScopes}; then it can be released, at once or later in a batch with others.
 *
 * <p>A flyweight refuses a store to a sealed scope with a {@link SealedScopeException}. A store past the flyweights (a raw segment, or a thread that
 * was just storing when the scope was sealed) changes nothing either, but the JVM tells of it by an {@link InternalError}, somewhat later:
 * {@link #guarded} turns that into the same exception. One kind of store is fatal to the JVM: an atomic operation (compare-and-set and the like) in code
 * that is still interpreted. Shared types make none.
 *
 * <p>With {@link #cooperative} the pages are closed by this process itself, which guards against bugs; hostile native code could open them. With a
 * {@link SealSession} another process closes them. Thread-safe. Sealing and
 * releasing allocate nothing once warm; nothing here waits longer than it is told.
 */
public final class Seals implements AutoCloseable {
    private static final int SPINS = 2_000;
    private static final long PAUSE_NANOS = 50_000;
    private static final ScopeSeal NOTHING = () -> false;

    private final Arena arena;
    private final Optional<Guard.Registration> registration;
    private final SealAuthority table;
    private final ReleaseBatch batch;
    private final KeptSeals kept;
    private final ScopeRuns runs = new ScopeRuns();
    private long[] refs = new long[4];
    private long[] bytes = new long[4];
    private final Held[] held;
    private final long[] single = new long[1];
    /** One that no seal uses now, or null. */
    private Held spare;

    private boolean closed;

    private Seals(Arena arena, SealAuthority authority, int threshold) {
        this.arena = arena;
        this.table = authority;
        this.batch = new ReleaseBatch(table, threshold);
        this.kept = new KeptSeals(table, threshold);
        MemorySegment memory = arena.memory();
        this.held = new Held[table.capacity()];
        this.registration = Guard.installed().map(guard -> guard.register(memory.address(), memory.byteSize()));
    }

    /** What a sealed scope knows of its seal. Reused, so that sealing allocates nothing. */
    private final class Held implements ScopeSeal {
        private Scope scope;
        private Object call;
        private long seal;
        private long bytes;

        @Override
        public boolean releaseIfDone() {
            synchronized (Seals.this) {
                // A closed scope that waits for its batch can wait on; one that is kept was waiting for this.
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
            sealed.unseal();
        }

        @Override
        public String toString() {
            return String.valueOf(call);
        }
    }

    /** Bytes of a ring of {@code descriptors}, of which each run of a sealed scope takes one; at most 65,536. */
    public static long ringBytes(int descriptors) {
        return (long) descriptors * SealRingLayout.DESCRIPTOR_BYTES;
    }

    /** Bytes of the marks that belong to such a ring. */
    public static long marksBytes(int descriptors) {
        return (long) descriptors * SealRingLayout.MARK_BYTES;
    }

    /** The customary number of descriptors. */
    public static int defaultDescriptors() {
        return SealRingLayout.DEFAULT_CAPACITY;
    }

    /**
     * Seals that this process holds itself.
     *
     * @throws UnsupportedFeatureException if this host cannot write-protect that kind of memory; its message says what would help
     */
    public static Seals cooperative(SealSpec spec) {
        PageProtector protector = protector(spec);
        try {
            MemorySegment memory = spec.arena().memory();
            SealTable table = new SealTable(
                    spec.ring(),
                    spec.marks(),
                    protector,
                    spec.arena().id(),
                    memory.address(),
                    memory.byteSize(),
                    spec.pageBytes());
            return of(spec.arena(), table, spec.batch());
        } catch (RuntimeException e) {
            protector.close();
            throw e;
        }
    }

    /** Seals that {@code authority} holds. */
    static Seals of(Arena arena, SealAuthority authority, int batch) {
        Seals seals = new Seals(arena, authority, batch);
        SealViolations.watch(seals);
        return seals;
    }

    private static PageProtector protector(SealSpec spec) {
        MemorySegment memory = spec.arena().memory();
        if (spec.kind() == SharedFile.Kind.DAX) {
            // Without it the first refused store would be the end of the JVM.
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

    // ---- sealing

    /**
     * Closes a scope to stores. From the return on its bytes are what a receiver will see, until the release.
     *
     * @param call what has the scope; its {@code toString} goes into messages
     * @return the seal's number, never 0, for the receiver
     * @throws SealedScopeException if the scope is sealed already
     * @throws SealException if there is no room for more seals, or the kernel refuses; the scope is as before then
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

    /** What has a scope sealed that nobody has used since the call that it was sealed for; null if nothing has. */
    private Held keeperOf(Scope scope) {
        return scope.sealedByOr(NOTHING) instanceof Held by
                        && by.owner() == this
                        && by.scope == scope
                        && kept.contains(by.seal)
                        && scope.isOpen()
                ? by
                : null;
    }

    /** The pages are closed, and were since the last call. */
    private long renew(Held by, Object call) {
        long renewed = table.renew(by.seal);
        if (renewed == 0) {
            releaseNow(by.seal, SealRingLayout.FREE);
        } else {
            kept.remove(by.seal);
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
        // What the index had before serves next.
        spare = held[index];
        held[index] = by;
        return by;
    }

    private void readRuns(Scope scope) {
        runs.read(arena, scope.firstRun());
        if (runs.count() > refs.length) {
            refs = new long[runs.count()];
            bytes = new long[runs.count()];
        }
        for (int i = 0; i < runs.count(); i++) {
            refs[i] = runs.ref(i);
            bytes[i] = runs.bytes(i);
        }
    }

    private long sealRuns() {
        try {
            return table.seal(refs, bytes, runs.count());
        } catch (SealException e) {
            if (flush() + releaseKept(0) == 0) {
                throw e;
            }
            return table.seal(refs, bytes, runs.count());
        }
    }

    // ---- releasing

    /** Whether the receiver is done with a seal; false if it was released. */
    public synchronized boolean isDone(long seal) {
        return table.isDone(seal);
    }

    /**
     * Opens the scope again, if the receiver is done with it.
     *
     * @throws SealException if it is not, or if this is no seal in force
     */
    public synchronized void release(long seal) {
        checkHeld(seal);
        if (!table.isDone(seal)) {
            throw notDone(seal, "");
        }
        releaseNow(seal, SealRingLayout.FREE);
    }

    /**
     * As {@link #release(long)}, but waits for the receiver.
     *
     * @throws SealException if it is not done by then; the scope stays sealed: call again, {@link #revoke} it, or close it and go on
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
     * @throws SealException if this is no seal in force
     */
    public synchronized boolean tryRelease(long seal) {
        checkHeld(seal);
        if (!table.isDone(seal)) {
            return false;
        }
        releaseNow(seal, SealRingLayout.FREE);
        return true;
    }

    private SealException notDone(long seal, String when) {
        Object call = held[SealRingLayout.index(seal)].call;
        return new SealException("the receiver of " + SealRingLayout.describe(seal) + ", a scope of " + arena + " for "
                + call + ", has not marked it done" + when
                + "; wait longer, close the scope and go on without its memory, or revoke the seal");
    }

    /**
     * Leaves the release to a later batch. Seals whose receiver is not done are looked at again each time. If somebody uses the scope before, it is
     * released early, should the receiver be done.
     *
     * @throws SealException if this is no seal in force
     */
    public synchronized void releaseLater(long seal) {
        checkHeld(seal);
        if (batch.add(seal)) {
            flush();
        }
    }

    /** Releases now what waits and is done, with one system call for each group of neighbours. Returns how many seals that were. */
    public synchronized int flush() {
        int done = batch.takeDone();
        if (done > 0) {
            release(batch.taken(), done, SealRingLayout.FREE);
        }
        return done;
    }

    /**
     * Lets go of a seal whose receiver is done, but leaves its pages closed until somebody uses the scope: a flyweight that stores, an allocation, a reset or a
     * close opens them, and until then the next {@link #seal} of the scope costs no system call. What is kept so is bounded by {@link SealSpec#batch},
     * in seals and in pages, besides the latest one; beyond that all others are released together.
     *
     * <p>Scopes of which pieces were handed out ({@link Scope#isExposed}) are released at once, and seals whose receiver is not done are left
     * to a later batch ({@link #releaseLater}).
     *
     * @throws SealException if this is no seal in force
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
        } else if (!kept.contains(seal) && kept.add(seal)) {
            releaseKept(seal);
        }
    }

    private int releaseKept(long besides) {
        int taken = kept.take(besides);
        if (taken > 0) {
            release(kept.taken(), taken, SealRingLayout.FREE);
        }
        return taken;
    }

    /** Seals that {@link #releaseWhenUsed} keeps. */
    public synchronized int kept() {
        return kept.size();
    }

    /** Seals that wait for the next batch. */
    public synchronized int waiting() {
        return batch.size();
    }

    /**
     * Takes a seal back from a receiver that is not done. The receiver learns of it when it marks the seal done, and must not believe what it read
     * since. For a receiver that hangs or is dead.
     *
     * @throws SealException if this is no seal in force
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
        }
        for (int i = 0; i < count; i++) {
            batch.released(seals[i]);
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
     * Runs what may store to sealed scopes past the flyweights, so that such a store is a {@link SealedScopeException}. Costs about 30 ns.
     *
     * @throws SealedScopeException if a store was refused; what {@code action} did after it, it has done
     */
    public static void guarded(Runnable action) {
        try {
            action.run();
            Settle.now();
        } catch (InternalError e) {
            throw explain(e);
        }
    }

    /**
     * What the JVM's error after a refused store means: to be called by whoever catches it, in the thread that stored. Names the scope and call exactly
     * if the {@link Guard} is installed, else all that are sealed.
     *
     * @throws InternalError the same, if nothing is sealed there, so that it means something else
     */
    public static SealedScopeException explain(InternalError error) {
        return SealViolations.explain(error);
    }

    /**
     * Adds the names of the scopes that are sealed, or of the one at an address. Opens those whose call has ended, so that the store can be repeated.
     *
     * @return whether there was one of those
     */
    synchronized boolean nameSealed(OptionalLong address, List<String> names) {
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

    /**
     * Opens all pages and unseals all scopes, whoever is done or not: for the end of the connection or pool, before its memory is unmapped. Idempotent.
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        SealViolations.forget(this);
        table.close();
        registration.ifPresent(Guard.Registration::close);
        for (Held by : held) {
            if (by != null && by.scope != null) {
                by.unseal();
            }
        }
    }
}
