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
 * Confines the Refs of one call's arguments. They may lead into the runs of the scope that was passed, read in place
 * or from a private copy, and into the arenas that the service declared. All others cause a {@link SandboxException}.
 *
 * <p>It lives as long as the slot whose calls it serves. A call begins with {@link #fence} or {@link #snapshot} and
 * ends with {@link #leave}. They allocate nothing once the slot is warm. One thread at a time changes it. During a
 * call, any thread may follow Refs if the arguments were safely published to it.
 */
public final class ArgumentSpace extends RefSpace {
    /** A run into which no Ref leads. */
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
    /** Bytes of the snapshot that are counted in the budget. */
    private long counted;
    /** The run of the last Ref, because the next Ref usually leads into the same run. Only a hint, so races on it are
     * harmless. */
    private Run last = NOWHERE;

    private long steps;

    /**
     * An empty space.
     *
     * @param declared where Refs may lead besides the arguments' scope
     * @param buffers provides the memory of snapshots
     * @param budget counts the bytes of snapshots during calls
     * @param maxSteps number of Refs that one call may follow; {@link Long#MAX_VALUE} for no limit
     */
    public ArgumentSpace(RefSpace declared, SnapshotMemory buffers, SnapshotBudget budget, long maxSteps) {
        this.declared = declared;
        this.buffers = buffers;
        this.budget = budget;
        this.maxSteps = maxSteps;
        this.bounded = maxSteps != Long.MAX_VALUE;
    }

    /**
     * Lets Refs lead into a scope, which is read in place. Changes by any process that can write there are visible
     * at once.
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
     * As {@link #fence(Arena, long)}, for a scope that its sender has sealed for this call. The scope does not change
     * until the seal is marked done. If this method fails, it marks the seal done, unless another call has claimed the
     * seal.
     *
     * @param seal its number, as a peer gave it
     * @throws SealException if the seal is not in force, has served a call before, or does not cover the whole scope
     * @throws RefException if there is no such scope
     */
    public void fence(Arena arena, SealedScopes seals, long seal) {
        long firstRun = seals.claim(seal);
        try {
            fence(arena, firstRun);
            // After the claim, because the scope's links could change until then.
            seals.requireCovered(seal, read);
        } catch (SealException | RefException e) {
            leave();
            // Only the call that has claimed the seal may mark it.
            seals.markDone(seal);
            throw e;
        }
    }

    /**
     * Copies a scope's used bytes once into memory of this process and lets Refs lead into the copy. The copy does not
     * change until {@link #leave}.
     *
     * @param firstRun Ref of the scope's first run, as a peer gave it
     * @throws RefException if there is no such scope
     * @throws OutOfArenaException if the scope exceeds the limit of one snapshot, or of all snapshots of this peer
     */
    public void snapshot(Arena arena, long firstRun) {
        leave();
        read.read(arena, firstRun);
        buffer = buffers.take(read.totalBytes(), buffer);
        if (!budget.take(read.totalBytes())) {
            buffer = buffers.give(buffer);
            throw new OutOfArenaException("a snapshot of " + ByteSize.describe(read.totalBytes())
                    + " was asked for while other snapshots of this caller use its quota; make fewer such calls at once, or"
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

    /** Ends the last {@link #fence} or {@link #snapshot}: Refs no longer lead into its scope. Idempotent. */
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

    /** Whether a scope can be read now. */
    public boolean isEntered() {
        return count != 0;
    }

    /** Whether a Ref leads into the current scope. */
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

    /** One run of the scope; constant during a call. */
    private static final class Run {
        /** Ref of its first object's first byte. */
        private long first;

        private long bytes;
        private final Window window = new Window();

        /** Compares arena, generation and bounds at once: Refs with different high bits are further apart than any
         * run is long. */
        boolean holds(long ref) {
            return Long.compareUnsigned(ref - first, bytes) < 0;
        }
    }
}
