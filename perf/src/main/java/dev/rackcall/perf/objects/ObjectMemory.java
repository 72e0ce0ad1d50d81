package dev.rackcall.perf.objects;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;

/** An arena of 32 MiB over a memfd of its own. Closing it unmaps the memory. */
record ObjectMemory(SharedFile file, Mapping mapping, Arena arena) implements AutoCloseable {
    private static final long BYTES = 32 << 20;

    static ObjectMemory map() {
        SharedFile file = SharedFile.memfd("rackcall-objects", BYTES);
        Mapping mapping = file.map();
        return new ObjectMemory(
                file, mapping, Arena.create(new ArenaSpec(1, mapping.memory(), file, 0, TableHome.PRIVATE, 1, BYTES)));
    }

    Scope scope() {
        return arena.newScope();
    }

    @Override
    public void close() {
        mapping.close();
        file.close();
    }
}
