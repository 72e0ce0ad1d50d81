package dev.rackcall.perf.jmh;

import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Ordinary values, encoded and decoded as generated stubs do it. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CodecBenchmark {
    static final String TEXT = "sixteen letters.";
    static final long ROOM = 64;

    /** Bytes of the array. */
    @Param({"64", "4096"})
    private int bytes;

    private Arena arena;
    private MemorySegment memory;
    private byte[] array;
    private PayloadWriter writer;
    private PayloadReader reader;
    private long encodedLength;

    /** Makes memory with one encoded payload. */
    @Setup(Level.Trial)
    public void encodeOnce() {
        arena = Arena.ofShared();
        memory = arena.allocate(bytes + ROOM, Long.BYTES);
        array = new byte[bytes];
        writer = PayloadWriter.create((old, used, needed) -> {
            throw new IllegalStateException("the payload needs " + needed + " bytes, not " + old.byteSize());
        });
        reader = PayloadReader.create();
        encodedLength = write();
    }

    /** Gives the memory back. */
    @TearDown(Level.Trial)
    public void free() {
        arena.close();
    }

    /** A number, a text of 16 letters and an array are encoded. */
    @Benchmark
    public long write() {
        writer.begin(memory);
        writer.writeLong(bytes);
        writer.writeString(TEXT, "text");
        writer.writeBytes(array, "array");
        return writer.length();
    }

    /** The same is decoded into new Java objects. */
    @Benchmark
    public long read() {
        reader.begin(memory, 0, encodedLength);
        return reader.readLong() + reader.readString().length() + reader.readBytes().length;
    }
}
