package dev.rackcall.rpc.shm.view;

import dev.rackcall.shm.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * What the header of an arena says of its size. Its processes have written it and may lie.
 *
 * @param takenBytes length of the part that the arena uses so far, its page table included; it grows as it needs more, and
 *     never shrinks
 * @param quotaBytes its maximum length
 */
public record ArenaReading(long takenBytes, long quotaBytes) {
    /** Length of the part of a header that {@link #of} reads. */
    static final long HEADER_BYTES = 64;

    /** Reads the header there; empty if it is no arena's, or its numbers do not fit. */
    static Optional<ArenaReading> of(MemorySegment header, long longest) {
        if (!Arena.isAt(header)) {
            return Optional.empty();
        }
        ArenaReading reading = new ArenaReading(Arena.takenBytesAt(header), Arena.quotaAt(header));
        boolean fits =
                reading.quotaBytes <= longest && reading.takenBytes >= 0 && reading.takenBytes <= reading.quotaBytes;
        return Optional.of(reading).filter(_ -> fits);
    }
}
