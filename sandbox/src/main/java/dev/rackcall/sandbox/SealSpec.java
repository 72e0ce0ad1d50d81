package dev.rackcall.sandbox;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;

/**
 * What {@link Seals} are made of.
 *
 * @param arena where the scopes lie that are to be sealed; this process allocates in it
 * @param kind of the memory that the arena is mapped from
 * @param pageBytes unit of that memory
 * @param ring {@link Seals#ringBytes} long, all zero; this process alone writes it
 * @param marks {@link Seals#marksBytes} long, all zero; the receiver alone writes it
 * @param batch how many seals, or pages of seals, {@link Seals#releaseLater} collects before it releases them
 */
public record SealSpec(
        Arena arena, SharedFile.Kind kind, long pageBytes, MemorySegment ring, MemorySegment marks, int batch) {
    /** What RPCool recommends (arXiv 2408.11325). */
    public static final int DEFAULT_BATCH = 1024;

    public SealSpec {
        if (batch < 1) {
            throw new IllegalArgumentException("a batch of " + batch + " seals; give at least 1");
        }
    }

    /** Seals of an arena in that file, with the customary batch. */
    public static SealSpec of(Arena arena, SharedFile file, MemorySegment ring, MemorySegment marks) {
        return new SealSpec(arena, file.kind(), file.pageBytes(), ring, marks, DEFAULT_BATCH);
    }

    /** A copy with another batch. */
    public SealSpec withBatch(int seals) {
        return new SealSpec(arena, kind, pageBytes, ring, marks, seals);
    }
}
