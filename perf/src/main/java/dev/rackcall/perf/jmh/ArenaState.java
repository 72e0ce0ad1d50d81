package dev.rackcall.perf.jmh;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** An arena of 16 MiB over a memfd of its own, with its page table in the heap as a connection's arenas have it. */
@State(Scope.Thread)
public class ArenaState {
    private static final long BYTES = 16 << 20;

    private SharedFile file;
    private Mapping mapping;
    private Arena arena;

    /** For JMH. */
    public ArenaState() {}

    /** Maps the memory. */
    @Setup(Level.Trial)
    public void map() {
        file = SharedFile.memfd("rackcall-jmh", BYTES);
        mapping = file.map();
        arena = Arena.create(new ArenaSpec(1, mapping.memory(), file, 0, TableHome.PRIVATE, 1, BYTES));
    }

    /** Gives the memory back. */
    @TearDown(Level.Trial)
    public void unmap() {
        mapping.close();
        file.close();
    }

    Arena arena() {
        return arena;
    }
}
