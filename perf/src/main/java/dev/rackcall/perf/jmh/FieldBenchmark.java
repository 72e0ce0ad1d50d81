package dev.rackcall.perf.jmh;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Refs and the fields of shared objects. */
@State(org.openjdk.jmh.annotations.Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class FieldBenchmark {
    private static final int RING = 64;

    private Scope scope;
    private RefSpace space;
    private Item item;
    private Item walker;
    private long ref;
    private long value;

    /** Builds a ring of items. */
    @Setup(Level.Trial)
    public void build(ArenaState state) {
        scope = state.arena().newScope();
        item = scope.create(Item.class);
        walker = scope.create(Item.class);
        walker.text("sixteen letters.");
        Item last = walker;
        for (int i = 1; i < RING; i++) {
            Item next = scope.create(Item.class);
            last.next(new Ref<>(SharedObject.refOf(next)));
            last = next;
        }
        last.next(new Ref<>(SharedObject.refOf(walker)));
        item.text("sixteen letters.");
        ref = SharedObject.refOf(item);
        space = scope.space();
    }

    /** Closes the scope before its arena goes. */
    @TearDown(Level.Trial)
    public void close() {
        scope.close();
    }

    /** From the bits of a Ref to eight bytes of what it leads to: arena, bounds and generation are checked. */
    @Benchmark
    public long resolveRef() {
        return space.memory(ref).get(ValueLayout.JAVA_LONG, space.offset(ref));
    }

    /** A flyweight moves along a Ref: type and bounds are checked, too. */
    @Benchmark
    public boolean followRef() {
        return walker.next(walker);
    }

    /** A field of eight bytes is read. */
    @Benchmark
    public long readLong() {
        return item.number();
    }

    /** A field of eight bytes is written. */
    @Benchmark
    public void writeLong() {
        item.number(value++);
    }

    /** A text of 16 letters becomes a Java string. */
    @Benchmark
    public String readText() {
        return item.text();
    }
}
