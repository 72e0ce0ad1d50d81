package dev.rackcall.sandbox;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.ScopeRuns;
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
    /** What the high bits of a Ref, moved down, never are. */
    private static final long NO_ARENA = -1L;

    private final RefSpace declared;
    private final SnapshotMemory buffers;
    private final long maxSteps;
    private final ScopeRuns runs = new ScopeRuns();

    /** Runs are found by the high bits of a Ref and by its offset; {@code shift} leads from that to the place in {@link #memory}. */
    private long[] high = {NO_ARENA};

    private long[] from = new long[1];
    private long[] bytes = new long[1];
    private long[] shift = new long[1];
    private int count;
    private MemorySegment memory;
    private MemorySegment buffer;
    /** The run that the last Ref led into: most Refs lead into the same one as the Ref before. Only a hint, so races on it do no harm. */
    private int last;

    private long steps;

    /**
     * A space with nothing in it yet.
     *
     * @param declared where Refs may lead besides the argument's scope
     * @param buffers where snapshots get their memory
     * @param maxSteps how many Refs one call may follow; {@link Long#MAX_VALUE} for any number
     */
    public ArgumentSpace(RefSpace declared, SnapshotMemory buffers, long maxSteps) {
        this.declared = declared;
        this.buffers = buffers;
        this.maxSteps = maxSteps;
    }

    /**
     * Lets Refs lead into a scope, and the scope be read in place. What its owner, or whoever else can write there, changes meanwhile is seen at once.
     *
     * @param firstRun Ref of the scope's first run, as a peer gave it
     * @throws RefException if there is no such scope
     */
    public void fence(Arena arena, long firstRun) {
        leave();
        runs.read(arena, firstRun);
        memory = arena.memory();
        for (int i = 0; i < runs.count(); i++) {
            add(i, 0);
        }
        steps = maxSteps;
    }

    /**
     * As {@link #fence(Arena, long)}, for a scope that its sender has sealed for this call: what is read stays as it is until the seal is marked done.
     *
     * @param seal its number, as a peer gave it
     * @throws SealException if that is no seal in force, has served a call before, or does not cover the whole scope
     * @throws RefException if there is no such scope
     */
    public void fence(Arena arena, SealedScopes seals, long seal) {
        fence(arena, seals.claim(seal));
        try {
            // Only now, since the scope's links could change until the claim.
            seals.requireCovered(seal, runs);
        } catch (SealException e) {
            leave();
            throw e;
        }
    }

    /**
     * Copies a scope's used bytes into memory of this process, once, and lets Refs lead into the copy. Whatever happens to the scope afterwards, the copy
     * stays as it is until {@link #leave}.
     *
     * @param firstRun Ref of the scope's first run, as a peer gave it
     * @throws RefException if there is no such scope
     * @throws dev.rackcall.shm.OutOfArenaException if it is larger than snapshots may be
     */
    public void snapshot(Arena arena, long firstRun) {
        leave();
        runs.read(arena, firstRun);
        buffer = buffers.take(runs.totalBytes(), buffer);
        memory = buffer;
        MemorySegment source = arena.memory();
        long at = 0;
        for (int i = 0; i < runs.count(); i++) {
            MemorySegment.copy(source, runs.objectsAt(i), buffer, at, runs.objectBytes(i));
            add(i, at - runs.objectsAt(i));
            at += (runs.objectBytes(i) + Long.BYTES - 1) & -Long.BYTES;
        }
        steps = maxSteps;
    }

    private void add(int run, long by) {
        if (count == high.length) {
            grow();
        }
        high[count] = runs.ref(run) >>> Ref.OFFSET_BITS;
        from[count] = runs.objectsAt(run);
        bytes[count] = runs.objectBytes(run);
        shift[count++] = by;
    }

    private void grow() {
        high = Arrays.copyOf(high, 2 * count);
        from = Arrays.copyOf(from, 2 * count);
        bytes = Arrays.copyOf(bytes, 2 * count);
        shift = Arrays.copyOf(shift, 2 * count);
    }

    /** Ends what the last {@link #fence} or {@link #snapshot} began: no Ref leads into its scope any more. Idempotent. */
    public void leave() {
        if (count != 0) {
            count = 0;
            last = 0;
            high[0] = NO_ARENA;
            buffer = buffers.give(buffer);
            memory = null;
        }
    }

    /** Whether a scope may be read here now. */
    public boolean isEntered() {
        return count != 0;
    }

    /** Whether a Ref leads into the scope that was entered. */
    public boolean holds(long ref) {
        return runOf(ref) >= 0;
    }

    @Override
    public MemorySegment memory(long ref) {
        return runOf(ref) >= 0 ? memory : elsewhere(ref);
    }

    @Override
    public long offset(long ref) {
        // Counted here, since whoever follows a Ref asks for this once, but may look at the memory more often.
        if (--steps < 0 && maxSteps != Long.MAX_VALUE) {
            throw new SandboxException("the arguments were followed through more than " + maxSteps
                    + " Refs; a cycle, or a graph larger than the service declared");
        }
        int run = runOf(ref);
        return run >= 0 ? Ref.offset(ref) + shift[run] : declared.offset(ref);
    }

    @Override
    public long end(long ref, MemorySegment in) {
        int run = runOf(ref);
        return run >= 0 ? from[run] + bytes[run] + shift[run] : declared.end(ref, in);
    }

    /** The run that a Ref leads into; negative: none. */
    private int runOf(long ref) {
        int hint = last;
        return leadsInto(hint, ref) ? hint : find(ref);
    }

    private boolean leadsInto(int run, long ref) {
        return ref >>> Ref.OFFSET_BITS == high[run]
                && Long.compareUnsigned(Ref.offset(ref) - from[run], bytes[run]) < 0;
    }

    private int find(long ref) {
        for (int i = 0; i < count; i++) {
            if (leadsInto(i, ref)) {
                last = i;
                return i;
            }
        }
        return -1;
    }

    private MemorySegment elsewhere(long ref) {
        try {
            return declared.memory(ref);
        } catch (RefException e) {
            throw new SandboxException(Ref.describe(ref)
                    + " leads neither into the scope of this call's arguments nor into an arena that the service declared: "
                    + e.getMessage());
        }
    }
}
