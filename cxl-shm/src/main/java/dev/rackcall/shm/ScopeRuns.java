package dev.rackcall.shm;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The runs of a scope as found from its first one: what a receiver needs to copy, seal or fence in a whole scope that a peer has
 * written. Everything is read once and checked, since a hostile peer may go on writing: each run lies in the arena's memory, and the lengths together
 * are no more than the arena holds, so that the work is bounded however the runs are linked.
 *
 * <p>An object of this class is reused for one scope after the other and allocates nothing once it is warm. Not thread-safe.
 */
public final class ScopeRuns {
    private static final int HEADER = RunLayout.BYTES;

    private long[] refs = new long[4];
    private long[] bytes = new long[4];
    private int count;
    private long totalBytes;

    /**
     * Reads the runs of the scope whose first run is at {@code firstRun}; forgets what was read before.
     *
     * @param firstRun as {@link Arena#scopeOf} gave it to whoever owns the scope
     * @throws RefException if there is no such scope; nothing is remembered then
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
     * Whether each of the runs says that it belongs to the scope that was read. What a run says may be of an earlier scope in the same memory, where memory is a mirror and what
     * is there now has not come yet.
     */
    public boolean belongTogether(Arena arena) {
        for (int i = 0; i < count; i++) {
            if (RunLayout.first(arena.memory(), Ref.offset(refs[i])) != refs[0]) {
                return false;
            }
        }
        return true;
    }

    /** Forgets all runs. */
    public void clear() {
        count = 0;
        totalBytes = 0;
    }

    /** Number of runs; 0 if none were read. */
    public int count() {
        return count;
    }

    /** Ref of the first byte of a run; its high {@code 64 - Ref.OFFSET_BITS} bits are those of every Ref into the run. */
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
