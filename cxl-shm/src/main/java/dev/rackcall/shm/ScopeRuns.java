package dev.rackcall.shm;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The runs of a scope, read from its first one. A receiver uses them to copy, seal or fence a whole scope that a peer
 * wrote. A hostile peer may keep writing, so every value is read once and checked. Each run must lie in the arena, and
 * all runs together must not be longer than the arena. This bounds the work, however the runs are linked.
 *
 * <p>Instances are reused and allocate nothing once they are warm. Not thread-safe.
 */
public final class ScopeRuns {
    private static final int HEADER = RunLayout.BYTES;

    private long[] refs = new long[4];
    private long[] bytes = new long[4];
    private int count;
    private long totalBytes;

    /**
     * Reads the runs of the scope whose first run is at {@code firstRun}. They replace those read before.
     *
     * @param firstRun as returned by {@link Arena#scopeOf} in the process that owns the scope
     * @throws RefException if there is no such scope; {@link #count} is 0 then
     */
    public void read(Arena arena, long firstRun) {
        clear();
        MemorySegment memory = arena.memory();
        long limit = arena.reservedBytes();
        long run = firstRun;
        do {
            long offset = Ref.offset(run);
            checkPlace(arena, firstRun, run, limit);
            long used = RunLayout.used(memory, offset);
            if (used < HEADER || used > limit - offset || totalBytes > limit - used) {
                throw broken(arena, firstRun, run, "claims " + used + " bytes, and the runs before it " + totalBytes);
            }
            add(run, used);
            run = RunLayout.next(memory, offset);
        } while (run != Ref.NULL);
    }

    private void checkPlace(Arena arena, long firstRun, long run, long limit) {
        long offset = Ref.offset(run);
        if (Ref.arenaId(run) != arena.id()
                || offset % ArenaLayout.PAGE != 0
                || offset < arena.firstRunOffset()
                || offset > limit - HEADER) {
            throw broken(arena, firstRun, run, "is not at a page of the arena");
        }
        if (count == RunChain.MAX_RUNS) {
            throw broken(arena, firstRun, run, "is one more than the " + RunChain.MAX_RUNS + " that a scope may have");
        }
    }

    private RefException broken(Arena arena, long firstRun, long run, String what) {
        clear();
        return new RefException("the scope at " + Ref.describe(firstRun) + " of " + arena + " is damaged: its run at "
                + Ref.describe(run) + " " + what);
    }

    private void add(long run, long used) {
        if (count == refs.length) {
            refs = Arrays.copyOf(refs, 2 * count);
            bytes = Arrays.copyOf(bytes, 2 * count);
        }
        refs[count] = run;
        bytes[count++] = used;
        totalBytes += used;
    }

    /**
     * Whether each run names the scope's first run as its own. In a mirror, a run's header may still be that of an
     * earlier scope, until the current one has arrived.
     */
    public boolean belongTogether(Arena arena) {
        for (int i = 0; i < count; i++) {
            if (RunLayout.first(arena.memory(), Ref.offset(refs[i])) != refs[0]) {
                return false;
            }
        }
        return true;
    }

    /** Removes all runs. */
    public void clear() {
        count = 0;
        totalBytes = 0;
    }

    /** Number of runs; 0 if none were read. */
    public int count() {
        return count;
    }

    /** Ref of the first byte of a run. Every Ref into the run has the same high {@code 64 - Ref.OFFSET_BITS} bits. */
    public long ref(int run) {
        return refs[run];
    }

    /** Where the objects of a run begin, as an offset in the arena. */
    public long objectsAt(int run) {
        return Ref.offset(refs[run]) + HEADER;
    }

    /** Bytes that the objects of a run take. */
    public long objectBytes(int run) {
        return bytes[run] - HEADER;
    }

    /** Bytes in use from the start of a run, its header included. */
    public long bytes(int run) {
        return bytes[run];
    }

    /** Sum of {@link #bytes(int)} over all runs. */
    public long totalBytes() {
        return totalBytes;
    }
}
