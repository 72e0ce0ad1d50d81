package dev.rackcall.perf.harness;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;

/** An arena in its own memory, with its page table in the heap, like the arenas of a connection. */
public final class BenchArena implements AutoCloseable {
    private final SharedFile file;
    private final Mapping mapping;
    private final Arena arena;

    /** Maps {@code bytes}, of which {@code reserved} need no later reservation. */
    public BenchArena(long bytes, long reserved) {
        file = SharedFile.memfd("bench-arena", bytes);
        mapping = file.map();
        arena = Arena.create(spec(reserved));
    }

    private ArenaSpec spec(long reserved) {
        return new ArenaSpec(1, mapping.memory(), file, 0, TableHome.PRIVATE, 1, reserved);
    }

    /** The memory's file. */
    public SharedFile file() {
        return file;
    }

    public Arena arena() {
        return arena;
    }

    /** The same arena, as a peer that does not allocate sees it. */
    public Arena attach() {
        return Arena.attach(spec(0));
    }

    @Override
    public void close() {
        mapping.close();
        file.close();
    }
}
