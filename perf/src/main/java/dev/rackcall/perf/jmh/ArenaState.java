package dev.rackcall.perf.jmh;

import dev.rackcall.perf.harness.BenchArena;
import dev.rackcall.shm.Arena;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** An arena of 16 MiB. */
@State(Scope.Thread)
public class ArenaState {
    private static final long BYTES = 16 << 20;

    private BenchArena memory;

    /** Maps the memory. */
    @Setup(Level.Trial)
    public void map() {
        memory = new BenchArena(BYTES, BYTES);
    }

    /** Gives the memory back. */
    @TearDown(Level.Trial)
    public void unmap() {
        memory.close();
    }

    Arena arena() {
        return memory.arena();
    }
}
