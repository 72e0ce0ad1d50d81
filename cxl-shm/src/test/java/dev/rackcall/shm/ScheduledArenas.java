package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageEntry;
import dev.rackcall.shm.alloc.Steps;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.util.function.LongUnaryOperator;

/**
 * Plays a {@link ScheduledArena} for a seed; returns the number of accesses to shared memory. {@link SteppedClasses}
 * loads it.
 */
final class ScheduledArenas implements LongUnaryOperator, AutoCloseable {
    private final SharedFile file = SharedFile.memfd("scheduled-arena", ScheduledArena.BYTES);
    private final Mapping mapping = file.map();
    private final int generations;

    /** @param generationBits as given to {@link SteppedClasses} */
    ScheduledArenas(Integer generationBits) {
        generations = 1 << generationBits;
        file.reserve(0, file.bytes());
        if (Ref.generation(Ref.of(1, generations, 0)) != 0
                || PageEntry.generation(PageEntry.free(0, generations)) != 0) {
            throw new AssertionError("generations do not have " + generationBits + " bits");
        }
    }

    @Override
    public long applyAsLong(long seed) {
        ScheduledArena arena = new ScheduledArena(file, mapping.memory(), generations, seed);
        Steps.during(arena::step);
        try {
            return arena.play();
        } finally {
            Steps.during(() -> {});
        }
    }

    @Override
    public void close() {
        mapping.close();
        file.close();
    }
}
