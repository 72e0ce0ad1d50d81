package dev.rackcall.rpc.shm.protocol;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.MemorySegment;

/**
 * Where one half of a slot encodes its payloads: inline at first, and in a page run of this side's arena once that is too small. The run
 * is kept for the next payload of the slot unless it is large, so that in steady state nothing is allocated.
 *
 * <p>Belongs to whoever holds the slot; not thread-safe.
 */
public final class PayloadBuffer implements PayloadWriter.Growth {
    /** A run above this goes back to the arena as soon as its call has ended. */
    private static final long KEEP_BYTES = 64 << 10;

    /** Runs double as they grow, so the run of a payload of at most that many bytes is kept. */
    public static final long KEPT_PAYLOAD_BYTES = KEEP_BYTES / 2;

    private static final long FIRST_BYTES = 4 << 10;

    private final Arena arena;
    private final MemorySegment inline;
    private MemorySegment run;
    private long ref;
    private boolean outside;

    public PayloadBuffer(Arena arena, MemorySegment inline) {
        this.arena = arena;
        this.inline = inline;
    }

    /** Where the next payload starts. */
    public MemorySegment start() {
        outside = false;
        return inline;
    }

    /** Where a payload lies that did not stay inline. */
    public long ref() {
        return ref;
    }

    /** Whether the payload has not outgrown its inline room. */
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
                    .with("a payload of %d bytes or more does not fit: %s", bytes, e.getMessage())
                    .asException(e);
        }
    }

    /** Gives a large run back; called when the call that filled it has ended. */
    public void trim() {
        if (run != null && run.byteSize() > KEEP_BYTES) {
            free();
        }
    }

    /** Gives the run back. */
    void free() {
        if (run != null) {
            arena.freeRun(ref);
            run = null;
            ref = 0;
        }
    }
}
