package dev.rackcall.sandbox;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.NullRefException;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.ScopeRuns;
import dev.rackcall.shm.os.ByteSize;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Where the Refs of one call's arguments may lead: into the runs of the scope that was passed, read in place or from a private copy, and
 * into the arenas that the service declared. Everything else is a {@link SandboxException}.
 *
 * <p>It lives as long as the slot whose calls it serves: {@link #fence} or {@link #snapshot} when a call begins to use its arguments, {@link #leave}
 * at its end. Neither allocates once the slot is warm. One thread changes it at a time; while a call lasts, any thread may follow Refs
 * that was handed the arguments properly.
 */
public final class ArgumentSpace extends RefSpace {
    /** Where no Ref leads. */
    private static final Run NOWHERE = new Run();

    private final RefSpace declared;
    private final SnapshotMemory buffers;
    private final SnapshotBudget budget;
    private final long maxSteps;
    private final boolean bounded;
    private final ScopeRuns read = new ScopeRuns();
    private Run[] runs = {new Run()};
    private int count;
    private MemorySegment memory;
    private MemorySegment buffer;
    /** Of the snapshot, in the budget. */
    private long counted;
    /** The run that the last Ref led into: most Refs lead into the same one as the Ref before. Only a hint, so races on it do no harm. */
    private Run last = NOWHERE;

    private long steps;

    /**
     * A space with nothing in it yet.
     *
     * @param declared where Refs may lead besides the argument's scope
     * @param buffers where snapshots get their memory
     * @param budget counts the bytes of snapshots while calls last
     * @param maxSteps how many Refs one call may follow; {@link Long#MAX_VALUE} for any number
     */
    public ArgumentSpace(RefSpace declared, SnapshotMemory buffers, SnapshotBudget budget, long maxSteps) {
        this.declared = declared;
        this.buffers = buffers;
        this.budget = budget;
        this.maxSteps = maxSteps;
        this.bounded = maxSteps != Long.MAX_VALUE;
    }

    /**
     * Lets Refs lead into a scope, and the scope be read in place. What its owner, or whoever else can write there, changes meanwhile is seen at once.
     *
     * @param firstRun Ref of the scope's first run, as a peer gave it
     * @throws RefException if there is no such scope
     */
    public void fence(Arena arena, long firstRun) {
        leave();
        read.read(arena, firstRun);
        memory = arena.memory();
        for (int i = 0; i < read.count(); i++) {
            add(i, read.objectsAt(i));
        }
        steps = maxSteps;
    }

    /**
     * As {@link #fence(Arena, long)}, for a scope that its sender has sealed for this call: what is read stays as it is until the seal is marked done. If this
     * fails, no call reads under the seal, and it is marked done unless another call has claimed it.
     *
     * @param seal its number, as a peer gave it
     * @throws SealException if that is no seal in force, has served a call before, or does not cover the whole scope
     * @throws RefException if there is no such scope
     */
    public void fence(Arena arena, SealedScopes seals, long seal) {
        long firstRun = seals.claim(seal);
        try {
            fence(arena, firstRun);
            // Only now, since the scope's links could change until the claim.
            seals.requireCovered(seal, read);
        } catch (SealException | RefException e) {
            leave();
            // Nobody else may: it was claimed.
            seals.markDone(seal);
            throw e;
        }
    }

    /**
     * Copies a scope's used bytes into memory of this process, once, and lets Refs lead into the copy. Whatever happens to the scope afterwards, the copy
     * stays as it is until {@link #leave}.
     *
     * @param firstRun Ref of the scope's first run, as a peer gave it
     * @throws RefException if there is no such scope
     * @throws OutOfArenaException if it is larger than snapshots may be, alone or with those of other calls
     */
    public void snapshot(Arena arena, long firstRun) {
        leave();
        read.read(arena, firstRun);
        buffer = buffers.take(read.totalBytes(), buffer);
        if (!budget.take(read.totalBytes())) {
            buffer = buffers.give(buffer);
            throw new OutOfArenaException("a snapshot of " + ByteSize.describe(read.totalBytes())
                    + " was asked while others of this caller's take up all that its arena could hold; make fewer such calls at once, or"
                    + " raise the quota");
        }
        counted = read.totalBytes();
        memory = buffer;
        MemorySegment source = arena.memory();
        long at = 0;
        for (int i = 0; i < read.count(); i++) {
            MemorySegment.copy(source, read.objectsAt(i), buffer, at, read.objectBytes(i));
            add(i, at);
            at += (read.objectBytes(i) + Long.BYTES - 1) & -Long.BYTES;
        }
        steps = maxSteps;
    }

    private void add(int index, long at) {
        if (count == runs.length) {
            runs = Arrays.copyOf(runs, 2 * count);
            for (int i = count; i < runs.length; i++) {
                runs[i] = new Run();
            }
        }
        Run run = runs[count++];
        long offset = read.objectsAt(index);
        run.first = (read.ref(index) & -1L << Ref.OFFSET_BITS) | offset;
        run.bytes = read.objectBytes(index);
        run.window.set(memory, at - offset, at + run.bytes);
    }

    /** Ends what the last {@link #fence} or {@link #snapshot} began: no Ref leads into its scope any more. Idempotent. */
    public void leave() {
        if (count != 0) {
            count = 0;
            last = NOWHERE;
            buffer = buffers.give(buffer);
            memory = null;
            if (counted != 0) {
                budget.give(counted);
                counted = 0;
            }
        }
    }

    /** Whether a scope may be read here now. */
    public boolean isEntered() {
        return count != 0;
    }

    /** Whether a Ref leads into the scope that was entered. */
    public boolean holds(long ref) {
        return runOf(ref) != NOWHERE;
    }

    @Override
    public Window window(long ref) {
        Run run = runOf(ref);
        return run != NOWHERE ? run.window : elsewhere(ref);
    }

    @Override
    public Window follow(long ref) {
        if (bounded && --steps < 0) {
            throw new SandboxException("the arguments were followed through more than " + maxSteps
                    + " Refs; a cycle, or a graph larger than the service allows (SandboxPolicy.withMaxRefs)");
        }
        return window(ref);
    }

    private Run runOf(long ref) {
        Run hint = last;
        return hint.holds(ref) ? hint : find(ref);
    }

    private Run find(long ref) {
        for (int i = 0; i < count; i++) {
            if (runs[i].holds(ref)) {
                last = runs[i];
                return runs[i];
            }
        }
        return NOWHERE;
    }

    private Window elsewhere(long ref) {
        NullRefException.throwIfNull(ref);
        try {
            return declared.window(ref);
        } catch (RefException e) {
            throw new SandboxException(
                    isDeclared(Ref.arenaId(ref))
                            ? e.getMessage()
                            : Ref.describe(ref)
                                    + " leads neither into the scope of this call's arguments nor into an arena that the service declared. An"
                                    + " isolated call (SNAPSHOT, SEALED, AUTO) takes along one scope: create all that its objects refer to"
                                    + " there, or copy it there with DeepCopy.DEFAULT.copy");
        }
    }

    private boolean isDeclared(int arena) {
        return declared instanceof ArenaTable table && table.leadsTo(arena);
    }

    /** One run of the scope; constant while a call lasts. */
    private static final class Run {
        /** Ref of its first object's first byte. */
        private long first;

        private long bytes;
        private final Window window = new Window();

        /** One comparison for arena, generation and bounds: Refs that differ in their high bits are further apart than any run is long. */
        boolean holds(long ref) {
            return Long.compareUnsigned(ref - first, bytes) < 0;
        }
    }
}
