package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageEntry;
import dev.rackcall.shm.os.file.Mapping;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The runs of a scope, with a bump allocator in the last one. Each run is at least twice as long as the one before,
 * unless a full arena only has a shorter one. The thread rules of {@link Scope} apply.
 */
final class RunChain {
    /**
     * Runs double in length, so only a scope that fills the gaps of a full arena gets near this limit. A longer chain
     * is forged.
     */
    static final int MAX_RUNS = 1024;

    /**
     * Memory is zeroed this many bytes at a time, because one fill costs less than one for each small object. They stay
     * in the first-level cache until they are used.
     */
    private static final int ZEROED_AT_ONCE = 512;

    private final Arena arena;
    private final HandedRuns handed;
    private final MemorySegment memory;
    private long[] runs = new long[2];
    private int[] epochs = new int[2];
    private int runCount;
    private long bytesInRuns;
    /** Offset of the last run, in which objects are allocated at {@code cursor} up to {@code end}. */
    private long start;

    private long cursor;
    private long end;
    /** Offset up to which the room from {@code cursor} on is zero. */
    private long zeroed;
    /** A Ref into the last run, without its offset. */
    private long runBits;

    RunChain(Arena arena) {
        this.arena = arena;
        this.handed = arena.handed();
        this.memory = arena.memory();
    }

    /** Allocates the first run of a new scope. */
    void begin(long firstBytes) {
        arena.checkSize(firstBytes);
        addRun(0, firstBytes + RunLayout.BYTES);
    }

    /**
     * Takes over the chain that holds {@code ref} from another participant. On failure, the chain holds the runs taken
     * over so far.
     */
    void takeOver(long ref, int from) {
        long wanted = arena.runOf(ref);
        long entry = heldBy(from, wanted);
        checkHeader(wanted, entry);
        long first = RunLayout.first(memory, Ref.offset(wanted));
        int epoch = RunLayout.firstEpoch(memory, Ref.offset(wanted));
        // Acquire: the reads above must not move behind the second read of the entry, which confirms the owner.
        VarHandle.acquireFence();
        if (handed.entryOf(wanted, from) != entry) {
            throw noRunOf(from, wanted);
        }
        long run = first;
        boolean found = false;
        while (run != Ref.NULL && runCount < MAX_RUNS) {
            takeOverRun(run, epoch, first, from);
            found |= run == wanted && epoch == PageEntry.epoch(entry);
            epoch = RunLayout.nextEpoch(memory, Ref.offset(run));
            run = RunLayout.next(memory, Ref.offset(run));
        }
        if (!found || run != Ref.NULL) {
            throw new RefException(Ref.describe(ref)
                    + " does not lie in the scope that its run names, or that has more than " + MAX_RUNS + " runs");
        }
    }

    /**
     * Takes over one run. The link to the run, and its header, may be left over from an earlier use of the memory.
     * Therefore the epoch must match. The entry is read before the header, and the compare-and-set fails if it has
     * changed since.
     */
    private void takeOverRun(long run, int epoch, long first, int from) {
        long entry = heldBy(from, run);
        checkHeader(run, entry);
        if (PageEntry.epoch(entry) != epoch || RunLayout.first(memory, Ref.offset(run)) != first) {
            throw new RefException(Ref.describe(run) + " of participant " + from + " does not belong to the scope at "
                    + Ref.describe(first) + "; was that closed?");
        }
        if (!handed.takeOver(run, entry, this)) {
            throw noRunOf(from, run);
        }
        remember(run, epoch);
    }

    private long heldBy(int participant, long run) {
        long entry = handed.entryOf(run, participant);
        if (entry == 0) {
            throw noRunOf(participant, run);
        }
        return entry;
    }

    private void checkHeader(long run, long entry) {
        if (!RunLayout.isOf(memory, run, PageEntry.epoch(entry))) {
            throw new RefException(Ref.describe(run)
                    + " does not belong to a scope: it has no header of this use of its memory; was the scope closed?");
        }
    }

    private static RefException noRunOf(int participant, long run) {
        return new RefException(Ref.describe(run) + " is not a run of participant " + participant
                + ", so its scope cannot be taken over; was it closed, or handed over before?");
    }

    /** As {@link Scope#allocate}, but does not check the calling thread and the scope's state. */
    long allocate(long bytes) {
        try {
            return allocateNow(bytes);
        } catch (IllegalStateException e) {
            throw unmapped(e);
        }
    }

    private long allocateNow(long bytes) {
        // The room ends at a multiple of 8, so a size that fits still fits after rounding up.
        if (bytes < 0 || bytes > end - cursor) {
            grow(bytes);
        }
        long offset = cursor;
        long next = offset + roundUp(bytes);
        if (next > zeroed) {
            zeroTo(next);
        }
        cursor = next;
        RunLayout.used(memory, start, next - start);
        return runBits | offset;
    }

    private static long roundUp(long bytes) {
        return (bytes + Long.BYTES - 1) & -Long.BYTES;
    }

    private void grow(long bytes) {
        arena.checkSize(bytes);
        addRun(2 * (end - start), roundUp(bytes) + RunLayout.BYTES);
    }

    /** Zeroes the room up to {@code needed}, and some more for the next objects. */
    private void zeroTo(long needed) {
        long to = Math.min(end, Math.max(needed, zeroed + ZEROED_AT_ONCE));
        memory.asSlice(zeroed, to - zeroed).fill((byte) 0);
        zeroed = to;
    }

    /** Adds a run of {@code wanted} bytes or, failing that, a shorter one of at least {@code needed} bytes. */
    private void addRun(long wanted, long needed) {
        if (runCount == MAX_RUNS) {
            throw new OutOfArenaException(
                    "a scope of " + arena + " has " + MAX_RUNS
                            + " runs, because the arena is so full that only small ones were left; raise its quota or close scopes");
        }
        add(arena.allocateRun(wanted, needed));
    }

    private void add(long run) {
        int epoch = handed.epochOf(run);
        boolean isFirst = runCount == 0;
        RunLayout.initialise(memory, run, epoch, isFirst ? run : runs[0], isFirst ? epoch : epochs[0]);
        if (!isFirst) {
            RunLayout.next(memory, Ref.offset(runs[runCount - 1]), run, epoch);
        }
        remember(run, epoch);
        startAt(run);
    }

    private void remember(long run, int epoch) {
        if (runCount == runs.length) {
            runs = Arrays.copyOf(runs, 2 * runCount);
            epochs = Arrays.copyOf(epochs, 2 * runCount);
        }
        epochs[runCount] = epoch;
        runs[runCount++] = run;
        bytesInRuns += arena.runBytes(run);
    }

    private void startAt(long run) {
        start = Ref.offset(run);
        cursor = start + RunLayout.BYTES;
        zeroed = cursor;
        end = start + arena.runBytes(run);
        runBits = run - start;
    }

    /** Frees all runs but the first, makes Refs into the first stale, and starts again in it or in its replacement. */
    void reset() {
        try {
            while (runCount > 1) {
                freeLast();
            }
            renewFirst();
            bytesInRuns = arena.runBytes(runs[0]);
            startAt(runs[0]);
        } catch (IllegalStateException e) {
            throw unmapped(e);
        }
    }

    private void renewFirst() {
        runs[0] = handed.renew(runs[0], epochs[0], this);
        epochs[0] = handed.epochOf(runs[0]);
        RunLayout.initialise(memory, runs[0], epochs[0], runs[0], epochs[0]);
    }

    /** Frees all runs, unless their memory is unmapped already. */
    void free() {
        try {
            while (runCount > 0) {
                freeLast();
            }
        } catch (IllegalStateException e) {
            if (memory.scope().isAlive()) {
                throw e;
            }
        }
    }

    /** Removes the last run, and frees it unless it was taken over from this scope. */
    private void freeLast() {
        runCount--;
        handed.free(runs[runCount], epochs[runCount], this);
    }

    /** Ref of the first run. */
    long first() {
        return runs[0];
    }

    /** Total length of all runs in bytes. */
    long bytes() {
        return bytesInRuns;
    }

    /** Whether an object allocated since the last reset could lie at {@code ref}. */
    boolean holds(long ref) {
        for (int i = 0; i < runCount; i++) {
            long into = Ref.offset(ref) - Ref.offset(runs[i]);
            if ((ref ^ runs[i]) >>> Ref.OFFSET_BITS == 0 && into >= RunLayout.BYTES && into < arena.runBytes(runs[i])) {
                return true;
            }
        }
        return false;
    }

    /** The exception to throw after an access that found the memory unmapped. */
    private ScopeException unmapped(IllegalStateException cause) {
        if (memory.scope().isAlive()) {
            throw cause;
        }
        return new ScopeException("a scope of arena " + arena.id() + " was used after " + Mapping.ownerOf(memory)
                + " had ended; open a new one");
    }
}
