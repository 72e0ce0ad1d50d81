package dev.rackcall.sandbox;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;

/**
 * The memory and the limits of {@link Seals}.
 *
 * @param arena the arena of the scopes to seal; this process allocates in it
 * @param kind the kind of memory that the arena is mapped from
 * @param pageBytes page size of that memory
 * @param ring {@link Seals#ringBytes} long, all zero; this process alone writes it
 * @param marks {@link Seals#marksBytes} long, all zero; the receiver alone writes it
 * @param batch the number of seals, or pages of seals, that {@link Seals#releaseLater} collects before it releases
 * them
 */
public record SealSpec(
        Arena arena, SharedFile.Kind kind, long pageBytes, MemorySegment ring, MemorySegment marks, int batch) {
    /** Recommended by RPCool (arXiv 2408.11325). */
    public static final int DEFAULT_BATCH = 1024;

    public SealSpec {
        if (batch < 1) {
            throw new IllegalArgumentException("a batch of " + batch + " seals; give at least 1");
        }
    }

    /** Seals of an arena in that file, with the default batch. */
    public static SealSpec of(Arena arena, SharedFile file, MemorySegment ring, MemorySegment marks) {
        return new SealSpec(arena, file.kind(), file.pageBytes(), ring, marks, DEFAULT_BATCH);
    }

    /** A copy with another batch. */
    public SealSpec withBatch(int seals) {
        return new SealSpec(arena, kind, pageBytes, ring, marks, seals);
    }
}
