package dev.rackcall.sandbox;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.ScopeRuns;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The receiver's side of a ring of seals: checks seals and marks them done. It checks the ring like all data that a
 * peer wrote. Thread-safe; allocates nothing.
 *
 * <p>A seal serves one call: {@link #claim}, use the arguments, {@link #markDone}. Each step may run on another
 * thread.
 */
public final class SealedScopes {
    private final Arena arena;
    private final MemorySegment ring;
    private final MemorySegment marks;
    private final int capacity;
    /** The sequence of the last claimed seal of each index. A seal protects only one call, because it may be released
     * at any time after the call. */
    private final AtomicIntegerArray claimed;

    private SealedScopes(Arena arena, MemorySegment ring, MemorySegment marks) {
        this.arena = arena;
        this.ring = ring;
        this.marks = marks;
        this.capacity = SealRingLayout.capacityOf(ring);
        this.claimed = new AtomicIntegerArray(capacity);
        if (marks.byteSize() < (long) capacity * SealRingLayout.MARK_BYTES) {
            throw new IllegalArgumentException("a ring of " + ring.byteSize() + " bytes and marks of "
                    + marks.byteSize() + " bytes do not belong together");
        }
    }

    /**
     * The receiver's side.
     *
     * @param arena the arena of the sealed scopes, as this process maps it
     * @param ring written by the sealing side
     * @param marks written by this process alone, {@link Seals#marksBytes} long
     */
    public static SealedScopes of(Arena arena, MemorySegment ring, MemorySegment marks) {
        return new SealedScopes(arena, ring, marks);
    }

    /**
     * Claims a seal for one call. Trust nothing that was read from the scope before.
     *
     * @return Ref of the scope's first run, for {@link ArgumentSpace#fence}; call {@link #requireCovered} after reading
     * its runs
     * @throws SealException if this seal is not in force, belongs to another arena, or was claimed before
     */
    public long claim(long seal) {
        int index = SealRingLayout.index(seal);
        requirePlace(seal, index);
        // Read before the descriptor. If this seal and its successor are both claimed and done in between, the
        // exchange below fails.
        int before = claimed.get(index);
        long run = sealedRun(seal, index, 0);
        if (Ref.arenaId(run) != arena.id()) {
            throw new SealException(
                    SealRingLayout.describe(seal) + " is for " + Ref.describe(run) + ", not for " + arena);
        }
        if (before == SealRingLayout.sequence(seal)
                || !claimed.compareAndSet(index, before, SealRingLayout.sequence(seal))) {
            throw new SealException(SealRingLayout.describe(seal)
                    + " has served a call before; the sender must seal the scope again for each call");
        }
        return run;
    }

    private void requirePlace(long seal, int index) {
        if (index < 0 || index >= capacity) {
            throw new SealException(
                    SealRingLayout.describe(seal) + " has no place in a ring of " + capacity + " descriptors");
        }
    }

    /** Ref of the run in the seal's descriptor number {@code position}. */
    private long sealedRun(long seal, int index, int position) {
        requirePlace(seal, index);
        int at = (index + position) % capacity;
        long word = SealRingLayout.word(ring, at);
        int expected = position == 0 ? SealRingLayout.SEALED : SealRingLayout.CONTINUED;
        if (SealRingLayout.state(word) != expected
                || SealRingLayout.sequenceOf(word) != SealRingLayout.sequence(seal)) {
            throw new SealException(SealRingLayout.describe(seal) + " is not in force: its descriptor says state "
                    + SealRingLayout.state(word) + " of "
                    + SealRingLayout.describe(SealRingLayout.seal(SealRingLayout.sequenceOf(word), at)));
        }
        return SealRingLayout.run(ring, at);
    }

    /**
     * Checks that a claimed seal covers a whole scope.
     *
     * @param runs as read after {@link #claim}
     * @throws SealException if a run is not sealed, or not to its end
     */
    public void requireCovered(long seal, ScopeRuns runs) {
        int index = SealRingLayout.index(seal);
        int described = SealRingLayout.runsLeft(SealRingLayout.word(ring, checked(seal, index)));
        if (runs.count() > described) {
            throw new SealException(
                    SealRingLayout.describe(seal) + " covers " + described + " runs of a scope of " + runs.count());
        }
        for (int i = 0; i < runs.count(); i++) {
            long run = sealedRun(seal, index, i);
            long bytes = SealRingLayout.bytes(ring, (index + i) % capacity);
            if (run != runs.ref(i) || bytes < runs.bytes(i)) {
                throw new SealException(SealRingLayout.describe(seal) + " covers " + bytes + " bytes at "
                        + Ref.describe(run) + ", but the scope has " + runs.bytes(i) + " bytes at "
                        + Ref.describe(runs.ref(i)));
            }
        }
    }

    private int checked(long seal, int index) {
        sealedRun(seal, index, 0);
        return index;
    }

    /**
     * Checks that a seal covers a range of memory.
     *
     * @param ref its first byte
     * @param length in bytes
     * @throws SealException if the seal is not in force, or does not cover the whole range
     */
    public void verify(long seal, long ref, long length) {
        int index = SealRingLayout.index(seal);
        int described = Math.min(capacity, SealRingLayout.runsLeft(SealRingLayout.word(ring, checked(seal, index))));
        for (int i = 0; i < described; i++) {
            long run = sealedRun(seal, index, i);
            long into = ref - run;
            long bytes = SealRingLayout.bytes(ring, (index + i) % capacity);
            if (into >= 0 && length >= 0 && length <= bytes && into <= bytes - length) {
                return;
            }
        }
        throw new SealException(
                SealRingLayout.describe(seal) + " does not cover the " + length + " bytes at " + Ref.describe(ref));
    }

    /**
     * Marks a seal done: this process no longer reads the scope, which may be released.
     *
     * @return false if the sender has revoked the seal: the data may have changed during the call, which has failed
     */
    public boolean markDone(long seal) {
        int index = SealRingLayout.index(seal);
        if (index < 0 || index >= capacity) {
            return false;
        }
        long word = SealRingLayout.word(ring, index);
        SealRingLayout.mark(marks, index, SealRingLayout.sequence(seal));
        return SealRingLayout.state(word) == SealRingLayout.SEALED
                && SealRingLayout.sequenceOf(word) == SealRingLayout.sequence(seal);
    }
}
