package dev.rackcall.sandbox;

import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.os.ByteSize;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Private memory for snapshots. It is reused, because fresh pages cost more than the copy. Small buffers stay with
 * their slot; all slots of the server share large ones. The garbage collector unmaps dropped buffers, so an object that
 * is used after its call reads old bytes, never unmapped memory. Thread-safe.
 */
public final class SnapshotMemory {
    /** A slot keeps a buffer of up to this many bytes. */
    private static final long KEEP_BYTES = 64 << 10;

    private static final long LEAST_BYTES = 4 << 10;
    private static final long ALIGNMENT = 64;
    private static final int CLASSES = Long.SIZE;

    private final long maxBytes;
    private final long keptBytes;
    private final AtomicLong kept = new AtomicLong();
    /** Free large buffers by the logarithm of their size. */
    private final Deque<MemorySegment>[] free;

    /**
     * @param maxBytes the largest snapshot
     * @param keptBytes maximum bytes of large buffers that are kept for reuse; the garbage collector frees further ones
     */
    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
    public SnapshotMemory(long maxBytes, long keptBytes) {
        this.maxBytes = maxBytes;
        this.keptBytes = keptBytes;
        this.free = new Deque[CLASSES];
        for (int i = 0; i < CLASSES; i++) {
            free[i] = new ArrayDeque<>();
        }
    }

    /** A buffer of at least {@code wanted} bytes; {@code present} if it is large enough. */
    MemorySegment take(long wanted, MemorySegment present) {
        if (wanted > maxBytes) {
            throw new OutOfArenaException(
                    "a snapshot of " + ByteSize.describe(wanted) + " was asked for; this server takes up to "
                            + ByteSize.describe(maxBytes)
                            + ". Pass less at once, or seal the scope instead: with Isolation.SEALED, or sealFrom of the channel for AUTO");
        }
        if (present != null && present.byteSize() >= wanted) {
            return present;
        }
        int sizeClass = Long.SIZE - Long.numberOfLeadingZeros(Math.max(wanted, LEAST_BYTES) - 1);
        if (1L << sizeClass > KEEP_BYTES) {
            MemorySegment again = poll(sizeClass);
            if (again != null) {
                return again;
            }
        }
        return Arena.ofAuto().allocate(1L << sizeClass, ALIGNMENT);
    }

    private MemorySegment poll(int sizeClass) {
        Deque<MemorySegment> stack = free[sizeClass];
        synchronized (stack) {
            MemorySegment buffer = stack.poll();
            if (buffer != null) {
                kept.addAndGet(-buffer.byteSize());
            }
            return buffer;
        }
    }

    /** Takes a buffer back when its call ends. Returns the buffer if the slot keeps it, else null. */
    MemorySegment give(MemorySegment buffer) {
        if (buffer == null || buffer.byteSize() <= KEEP_BYTES) {
            return buffer;
        }
        int sizeClass = Long.SIZE - 1 - Long.numberOfLeadingZeros(buffer.byteSize());
        if (kept.addAndGet(buffer.byteSize()) <= keptBytes) {
            Deque<MemorySegment> stack = free[sizeClass];
            synchronized (stack) {
                stack.push(buffer);
            }
        } else {
            kept.addAndGet(-buffer.byteSize());
        }
        return null;
    }
}
