package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageEntry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/** The runs of a scope, each at least twice as long as the one before, and the bump allocator in the last of them. Guarded by the scope's rules. */
final class RunChain {
    /** Runs double, so that only a scope that fills the gaps of a full arena comes near this; a longer chain is a peer's lie. */
    static final int MAX_RUNS = 1024;

    /** Up to here zeroing word by word beats a bulk fill. */
    private static final int SMALL = 64;

    private final Arena arena;
    private final HandedRuns handed;
    private final MemorySegment memory;
    private long[] runs = new long[2];
    private int[] epochs = new int[2];
    private int runCount;
    private long bytesInRuns;
    private long cursor;
    private long end;
    private int generation;

    RunChain(Arena arena) {
        this.arena = arena;
        this.handed = arena.handed();
        this.memory = arena.memory();
    }

    /** Begins the chain of a new scope. */
    void begin(long firstBytes) {
        arena.checkSize(firstBytes);
        addRun(0, firstBytes + RunLayout.BYTES);
    }

    /** Takes the chain that a Ref lies in over from another participant; what was taken over when this fails is in the chain. */
    void takeOver(long ref, int from) {
        long wanted = arena.runOf(ref);
        long entry = heldBy(from, wanted);
        checkHeader(wanted, entry);
        long first = RunLayout.first(memory, Ref.offset(wanted));
        int epoch = RunLayout.firstEpoch(memory, Ref.offset(wanted));
        // Acquire: what was just read must not be read after the entry that says once more whose it is.
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
     * Takes one run over. What led to it, and what its header says, may have been written long ago, as many uses of the run as there are generations: so the epoch must be the one that was
     * meant, and the step that takes it fails if its entry has changed since before the header was read.
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
        return new RefException(Ref.describe(run) + " is no run of participant " + participant
                + ", so its scope cannot be taken over; was it closed, or handed over before?");
    }

    /** As {@link Scope#allocate}, by whoever may. */
    long allocate(long bytes) {
        try {
            return allocateNow(bytes);
        } catch (IllegalStateException e) {
            throw unmapped(e);
        }
    }

    private long allocateNow(long bytes) {
        // Room ends at a multiple of 8, so what fits before it is rounded up also fits afterwards.
        boolean fits = bytes >= 0 && bytes <= end - cursor;
        if (!fits) {
            arena.checkSize(bytes);
        }
        long size = (bytes + Long.BYTES - 1) & -Long.BYTES;
        if (!fits) {
            addRun(2 * (end - Ref.offset(runs[runCount - 1])), size + RunLayout.BYTES);
        }
        long offset = cursor;
        cursor = offset + size;
        RunLayout.used(memory, Ref.offset(runs[runCount - 1]), cursor - Ref.offset(runs[runCount - 1]));
        zero(offset, size);
        return Ref.of(arena.id(), generation, offset);
    }

    private void zero(long offset, long size) {
        if (size <= SMALL) {
            for (long at = offset; at < offset + size; at += Long.BYTES) {
                memory.set(ValueLayout.JAVA_LONG, at, 0L);
            }
        } else {
            memory.asSlice(offset, size).fill((byte) 0);
        }
    }

    /** Adds a run of {@code wanted} bytes, or of less if the arena has no such run, but of {@code needed} at least. */
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
        cursor = Ref.offset(run) + RunLayout.BYTES;
        end = Ref.offset(run) + arena.runBytes(run);
        generation = Ref.generation(run);
    }

    /** Keeps the first run, or what takes its place, with nothing in it and Refs into it stale. */
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

    /** Frees all runs; those that are no longer mapped are gone already. */
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

    /** Unless it was taken over from this scope. */
    private void freeLast() {
        runCount--;
        handed.free(runs[runCount], epochs[runCount], this);
    }

    /** Ref of the first run. */
    long first() {
        return runs[0];
    }

    /** Of all runs together. */
    long bytes() {
        return bytesInRuns;
    }

    /** Whether an object in the chain, since its last reset, could lie at {@code ref}. */
    boolean holds(long ref) {
        for (int i = 0; i < runCount; i++) {
            long into = Ref.offset(ref) - Ref.offset(runs[i]);
            if ((ref ^ runs[i]) >>> Ref.OFFSET_BITS == 0 && into >= RunLayout.BYTES && into < arena.runBytes(runs[i])) {
                return true;
            }
        }
        return false;
    }

    /** What to throw when an access found the memory unmapped. */
    private ScopeException unmapped(IllegalStateException cause) {
        if (memory.scope().isAlive()) {
            throw cause;
        }
        return new ScopeException("a scope of arena " + arena.id()
                + " was used after the connection or pool that it belongs to had ended; open a new one");
    }
}
