package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.Guard;
import dev.rackcall.sandbox.os.PageProtector;
import dev.rackcall.sandbox.os.StoreBarrier;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SealedScopeException;
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

    private final HeldSeals held;
    private final Optional<Guard.Registration> registration;

    private Seals(Arena arena, SealAuthority authority, int threshold) {
        this.held = new HeldSeals(arena, authority, threshold);
        MemorySegment memory = arena.memory();
        this.registration = Guard.installed().map(guard -> guard.register(memory.address(), memory.byteSize()));
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
        PageProtector protector = Protectors.of(spec);
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

    // ---- sealing and releasing

    /**
     * Closes a scope to stores. From the return on its bytes are what a receiver will see, until the release.
     *
     * @param call what has the scope; its {@code toString} goes into messages
     * @return the seal's number, never 0, for the receiver
     * @throws SealedScopeException if the scope is sealed already
     * @throws SealException if there is no room for more seals, or the kernel refuses; the scope is as before then
     */
    public long seal(Scope scope, Object call) {
        return held.seal(scope, call);
    }

    /** Whether the receiver is done with a seal; false if it was released. */
    public boolean isDone(long seal) {
        return held.isDone(seal);
    }

    /**
     * Opens the scope again, if the receiver is done with it.
     *
     * @throws SealException if it is not, or if this is no seal in force
     */
    public void release(long seal) {
        if (!held.tryRelease(seal)) {
            throw held.notDone(seal, "");
        }
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
                throw held.notDone(seal, " within " + patience.toMillis() + " ms");
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
    public boolean tryRelease(long seal) {
        return held.tryRelease(seal);
    }

    /**
     * Leaves the release to a later batch. Seals whose receiver is not done are looked at again each time. If somebody uses the scope before, it is
     * released early, should the receiver be done.
     *
     * @throws SealException if this is no seal in force
     */
    public void releaseLater(long seal) {
        held.releaseLater(seal);
    }

    /** Releases now what waits and is done, with one system call for each group of neighbours. Returns how many seals that were. */
    public int flush() {
        return held.flush();
    }

    /**
     * Lets go of a seal whose receiver is done, but leaves its pages closed until somebody uses the scope: a flyweight that stores, an allocation, a reset or a
     * close opens them, and until then the next {@link #seal} of the scope costs no system call. Of a scope of 64 pages or more a store opens only the pages of its object,
     * while those are few, and the next {@link #seal} closes these again. What is kept so is bounded by {@link SealSpec#batch},
     * in seals and in pages, besides the latest one; beyond that all others are released together.
     *
     * <p>Scopes of which pieces were handed out ({@link Scope#isExposed}) are released at once, and seals whose receiver is not done are left
     * to a later batch ({@link #releaseLater}).
     *
     * @throws SealException if this is no seal in force
     */
    public void releaseWhenUsed(long seal) {
        held.releaseWhenUsed(seal);
    }

    /** Seals that {@link #releaseWhenUsed} keeps. */
    public int kept() {
        return held.kept();
    }

    /** Seals that wait for the next batch. */
    public int waiting() {
        return held.waiting();
    }

    /**
     * Takes a seal back from a receiver that is not done. The receiver learns of it when it marks the seal done, and must not believe what it read
     * since. For a receiver that hangs or is dead.
     *
     * @throws SealException if this is no seal in force
     */
    public void revoke(long seal) {
        held.revoke(seal);
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
            StoreBarrier.now();
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

    /** See {@link HeldSeals#nameSealed}. */
    boolean nameSealed(OptionalLong address, List<String> names) {
        return held.nameSealed(address, names);
    }

    /**
     * Opens all pages and unseals all scopes, whoever is done or not: for the end of the connection or pool, before its memory is unmapped. Idempotent.
     */
    @Override
    public void close() {
        if (held.end()) {
            SealViolations.forget(this);
            registration.ifPresent(Guard.Registration::close);
        }
    }
}
