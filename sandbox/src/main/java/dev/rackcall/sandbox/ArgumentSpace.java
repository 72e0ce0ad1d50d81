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
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Confines the Refs of one call's arguments. They may lead into the runs of the scope that was passed, read in place
 * or from a private copy, and into the arenas that the service declared. All others cause a {@link SandboxException}.
 *
 * <p>Objects may only be read, except for those in the scope of a call whose method {@linkplain Stores declares} that it
 * writes.
 *
 * <p>It lives as long as the slot whose calls it serves. A call begins with {@link #fence} or {@link #snapshot} and
 * ends with {@link #leave}. They allocate nothing once the slot is warm. One thread at a time changes it. During a
 * call, any thread may follow Refs if the arguments were safely published to it.
 */
public final class ArgumentSpace extends RefSpace {
    /** A run into which no Ref leads. */
    private static final Run NOWHERE = new Run();

    /** Whether the objects of the passed scope may be written. */
    public enum Stores {
        REFUSED,
        /** Allowed: in place, or into a snapshot, whose changes {@link #changes} reports. */
        ALLOWED
    }

    /** Receives what a handler has stored into a snapshot. */
    @FunctionalInterface
    public interface Changes {
        /** Bytes {@code at} of the copy belong at {@code ref} of the original. */
        void add(long ref, MemorySegment copy, long at, long length);
    }

    private final RefSpace declared;
    private final boolean confined;
    private final SnapshotMemory buffers;
    private final SnapshotBudget budget;
    private final long maxSteps;
    private final boolean bounded;
    private final ScopeRuns read = new ScopeRuns();
    private Run[] runs = {new Run()};
    private int count;
    private MemorySegment memory;
    private MemorySegment buffer;
    /** The snapshot as it was taken; null if it may only be read. */
    private MemorySegment original;
    /** Kept by the slot for {@link #original}; may be null. */
    private MemorySegment spare;
    /** Read-only view of the last memory that needed one; kept so that calls allocate nothing. */
    private MemorySegment readOnly = MemorySegment.NULL;
    /** The memory that {@link #readOnly} is a view of. */
    private MemorySegment viewed = MemorySegment.NULL;
    /** Bytes of snapshots that are counted in the budget. */
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
        this(declared, true, buffers, budget, maxSteps);
    }

    private ArgumentSpace(
            RefSpace elsewhere, boolean confined, SnapshotMemory buffers, SnapshotBudget budget, long maxSteps) {
        this.declared = elsewhere;
        this.confined = confined;
        this.buffers = buffers;
        this.budget = budget;
        this.maxSteps = maxSteps;
        this.bounded = maxSteps != Long.MAX_VALUE;
    }

    /**
     * A space for trusted arguments: Refs may lead wherever {@code elsewhere} allows, which throws its own exceptions.
     * It distinguishes the passed scope only to keep stores out of all others.
     */
    public static ArgumentSpace trusting(RefSpace elsewhere, SnapshotMemory buffers, SnapshotBudget budget) {
        return new ArgumentSpace(elsewhere, false, buffers, budget, Long.MAX_VALUE);
    }

    /** As {@link #fence(Arena, long, Stores)}, for a scope that is only read. */
    public void fence(Arena arena, long firstRun) {
        fence(arena, firstRun, Stores.REFUSED);
    }

    /**
     * Lets Refs lead into a scope, which is used in place. Changes by any process that can write there are visible
     * at once.
     *
     * @param firstRun Ref of the scope's first run, as a peer gave it
     * @throws RefException if there is no such scope
     */
    public void fence(Arena arena, long firstRun, Stores stores) {
        leave();
        read.read(arena, firstRun);
        memory = stores == Stores.ALLOWED ? arena.memory() : readOnly(arena.memory());
        for (int i = 0; i < read.count(); i++) {
            add(i, read.objectsAt(i));
        }
        steps = maxSteps;
    }

    @SuppressWarnings("MemorySegmentReferenceEquality") // a view of an equal segment would do as well
    private MemorySegment readOnly(MemorySegment written) {
        if (viewed != written) {
            readOnly = written.asReadOnly();
            viewed = written;
        }
        return readOnly;
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

    /** As {@link #snapshot(Arena, long, Stores)}, for a scope that is only read. */
    public void snapshot(Arena arena, long firstRun) {
        snapshot(arena, firstRun, Stores.REFUSED);
    }

    /**
     * Copies a scope's used bytes once into memory of this process and lets Refs lead into the copy. Until {@link
     * #leave}, only stores through this space change the copy. If stores are allowed, a second copy shows what they
     * have changed.
     *
     * @param firstRun Ref of the scope's first run, as a peer gave it
     * @throws RefException if there is no such scope
     * @throws OutOfArenaException if the scope exceeds the limit of one snapshot, or of all snapshots of this peer
     */
    public void snapshot(Arena arena, long firstRun, Stores stores) {
        leave();
        read.read(arena, firstRun);
        boolean written = stores == Stores.ALLOWED;
        buffer = buffers.take(read.totalBytes(), buffer);
        // The second copy is not counted: otherwise a scope of more than half the quota could not be written at all.
        if (!budget.take(read.totalBytes())) {
            buffer = buffers.give(buffer);
            throw new OutOfArenaException("a snapshot of " + ByteSize.describe(read.totalBytes())
                    + " was asked for while other snapshots of this caller use its quota; make fewer such calls at once, or"
                    + " raise the quota");
        }
        counted = read.totalBytes();
        memory = written ? buffer : readOnly(buffer);
        MemorySegment source = arena.memory();
        long at = 0;
        for (int i = 0; i < read.count(); i++) {
            MemorySegment.copy(source, read.objectsAt(i), buffer, at, read.objectBytes(i));
            add(i, at);
            at += (read.objectBytes(i) + Long.BYTES - 1) & -Long.BYTES;
        }
        if (written) {
            original = buffers.take(read.totalBytes(), spare);
            MemorySegment.copy(buffer, 0, original, 0, at);
        }
        steps = maxSteps;
    }

    /** Whether {@link #changes} may have something to report. */
    public boolean isWrittenCopy() {
        return original != null;
    }

    /**
     * Reports what was stored into a snapshot since it was taken, in pieces of whole 8-byte words. Later calls report
     * only later changes.
     */
    public void changes(Changes changes) {
        for (int i = 0; i < count; i++) {
            Run run = runs[i];
            long shift = run.window.at(run.first) - Ref.offset(run.first);
            long from = run.window.at(run.first);
            long end = from + run.bytes;
            while (from < end) {
                long same = MemorySegment.mismatch(buffer, from, end, original, from, end);
                if (same < 0) {
                    break;
                }
                long start = (from + same) & -Long.BYTES;
                long stop = endOfChange(start, end);
                changes.add(run.first + (start - shift - Ref.offset(run.first)), buffer, start, stop - start);
                MemorySegment.copy(buffer, start, original, start, stop - start);
                from = stop;
            }
        }
    }

    /** End offset of the run of changed words that starts at {@code start}. */
    private long endOfChange(long start, long end) {
        long stop = Math.min(start + Long.BYTES, end);
        while (stop + Long.BYTES <= end
                && buffer.get(ValueLayout.JAVA_LONG_UNALIGNED, stop)
                        != original.get(ValueLayout.JAVA_LONG_UNALIGNED, stop)) {
            stop += Long.BYTES;
        }
        return stop;
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
            giveBuffer();
            if (original != null) {
                spare = buffers.give(original);
                original = null;
            }
            memory = null;
            if (counted != 0) {
                budget.give(counted);
                counted = 0;
            }
        }
    }

    private void giveBuffer() {
        if (buffer != null) {
            buffer = buffers.give(buffer);
            if (buffer == null) {
                // The view would keep a large buffer from being freed.
                readOnly = MemorySegment.NULL;
                viewed = MemorySegment.NULL;
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
        if (!confined) {
            return declared.window(ref);
        }
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
