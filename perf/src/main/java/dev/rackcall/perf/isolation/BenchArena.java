package dev.rackcall.perf.isolation;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;

/** An arena in memory of its own. */
final class BenchArena implements AutoCloseable {
    private final SharedFile file;
    private final Mapping mapping;
    private final Arena arena;

    BenchArena(long bytes) {
        file = SharedFile.memfd("bench-arena", bytes);
        mapping = file.map();
        arena = Arena.create(spec(64 << 10));
    }

    private ArenaSpec spec(long reserved) {
        return new ArenaSpec(1, mapping.memory(), file, 0, TableHome.PRIVATE, 1, reserved);
    }

    SharedFile file() {
        return file;
    }

    Arena arena() {
        return arena;
    }

    /** The same arena, as a peer that does not allocate sees it. */
    Arena attach() {
        return Arena.attach(spec(0));
    }

    @Override
    public void close() {
        mapping.close();
        file.close();
    }
}
