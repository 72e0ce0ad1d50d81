package dev.rackcall.perf.jmh;

import dev.rackcall.shm.Scope;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Pages and scopes. */
@State(org.openjdk.jmh.annotations.Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class AllocatorBenchmark {
    private static final int OBJECTS = 256;
    private static final int OBJECT_BYTES = 64;
    private static final int LARGE_BYTES = 1 << 20;

    private Scope scope;

    /** Opens the scope that objects are allocated in. */
    @Setup(Level.Trial)
    public void open(ArenaState state) {
        scope = state.arena().newScope(2L * OBJECTS * OBJECT_BYTES);
    }

    /** Closes it before its arena goes. */
    @TearDown(Level.Trial)
    public void close() {
        scope.close();
    }

    /** A new scope of one page, and its end. */
    @Benchmark
    public long openAndCloseScope(ArenaState state) {
        try (Scope fresh = state.arena().newScope()) {
            return fresh.bytesHeld();
        }
    }

    /** A new scope of 1 MiB, and its end. */
    @Benchmark
    public long openAndCloseLargeScope(ArenaState state) {
        try (Scope fresh = state.arena().newScope(LARGE_BYTES)) {
            return fresh.bytesHeld();
        }
    }

    /** One zeroed object of 64 bytes, with its part of the reset of a scope of 256 such objects. */
    @Benchmark
    @OperationsPerInvocation(OBJECTS)
    public long allocate() {
        long last = 0;
        for (int i = 0; i < OBJECTS; i++) {
            last = scope.allocate(OBJECT_BYTES);
        }
        scope.reset();
        return last;
    }
}
