package dev.rackcall.rpc.shm.protocol;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.MemorySegment;

/**
 * Where one half of a slot encodes its payloads: inline at first, then in a page run of this side's arena. A small run
 * is kept for the slot's next payload, so that nothing is allocated in steady state.
 *
 * <p>Confined to the thread that holds the slot.
 */
public final class PayloadBuffer implements PayloadWriter.Growth {
    /** A larger run returns to the arena when its call ends. */
    private static final long KEEP_BYTES = 64 << 10;

    /** Runs double as they grow, so the run of a payload up to this size is kept. */
    public static final long KEPT_PAYLOAD_BYTES = KEEP_BYTES / 2;

    private static final long FIRST_BYTES = 4 << 10;

    private final Arena arena;
    private final MemorySegment inline;
    private final String advice;
    private MemorySegment run;
    private long ref;
    private boolean outside;

    /** @param advice what to do if the arena is full, for the message */
    public PayloadBuffer(Arena arena, MemorySegment inline, String advice) {
        this.advice = advice;
        this.arena = arena;
        this.inline = inline;
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
                    .with("a payload of %d bytes or more does not fit: %s; %s", bytes, e.getMessage(), advice)
                    .asException(e);
        }
    }

    /** Frees a large run when its call has ended. */
    public void trim() {
        if (run != null && run.byteSize() > KEEP_BYTES) {
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
