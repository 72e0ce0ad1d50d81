package dev.rackcall.rpc.shm.protocol;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.MemorySegment;

/**
 * Where one half of a slot encodes its payloads: inline at first, then in a page run of this side's arena. A small run
 * is kept for the slot's next payload, so that nothing is allocated in steady state; how small depends on the arena,
 * which the runs of idle slots must not fill.
 *
 * <p>Confined to the thread that holds the slot.
 */
public final class PayloadBuffer implements PayloadWriter.Growth {
    /** A run larger than this, or than the slot's share, returns to the arena when its call ends. */
    private static final long MOST_KEPT_BYTES = 64 << 10;

    /** The kept runs of all slots together take at most this part of the arena. */
    private static final int KEPT_PART = 4;

    private static final long FIRST_BYTES = 4 << 10;

    private final Arena arena;
    private final MemorySegment inline;
    private final long keptBytes;
    private MemorySegment run;
    private long ref;
    private boolean outside;

    /** @param slots of the connection, each of which has such a buffer in that arena */
    public PayloadBuffer(Arena arena, MemorySegment inline, int slots) {
        this.arena = arena;
        this.inline = inline;
        this.keptBytes = keptBytes(arena.quota(), slots);
    }

    private static long keptBytes(long arenaBytes, int slots) {
        return Math.min(MOST_KEPT_BYTES, arenaBytes / KEPT_PART / slots);
    }

    /**
     * The run of a payload up to this size is kept, because runs double as they grow. Both ends compute the same.
     *
     * @param arenaBytes quota of the arena
     * @param slots of the connection
     */
    public static long keptPayloadBytes(long arenaBytes, int slots) {
        return keptBytes(arenaBytes, slots) / 2;
    }

    /** Where the next payload starts. */
    public MemorySegment start() {
        outside = false;
        return inline;
    }

    /** The Ref of a payload that did not fit inline. */
    public long ref() {
        return ref;
    }

    /** Whether the payload fits inline. */
    public boolean isInline() {
        return !outside;
    }

    @Override
    public MemorySegment grow(MemorySegment old, long used, long needed) {
        if (run == null || run.byteSize() < needed) {
            long bytes = Math.max(FIRST_BYTES, Math.max(needed, 2 * old.byteSize()));
            long larger = allocate(bytes);
            MemorySegment segment = arena.memory().asSlice(Ref.offset(larger), arena.runBytes(larger));
            segment.copyFrom(old.asSlice(0, used));
            free();
            run = segment;
            ref = larger;
        } else {
            run.copyFrom(old.asSlice(0, used));
        }
        outside = true;
        return run;
    }

    private long allocate(long bytes) {
        try {
            return arena.allocateRun(bytes);
        } catch (OutOfArenaException e) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    // The advice comes first: in a full arena, an answer has room for the beginning of its text only.
                    .with("%s; a payload of %d bytes or more does not fit: %s", arena.advice(), bytes, e.problem())
                    .asException(e);
        }
    }

    /** Frees a large run when its call has ended. */
    public void trim() {
        if (run != null && run.byteSize() > keptBytes) {
            free();
        }
    }

    /** Returns the run to the arena. */
    void free() {
        if (run != null) {
            arena.freeRun(ref);
            run = null;
            ref = 0;
        }
    }
}
