package dev.rackcall.perf.jmh;

import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import net.openhft.chronicle.bytes.PointerBytesStore;
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

/** The payloads of {@link CodecBenchmark}, encoded and decoded by Chronicle Bytes, with its checks of bounds. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ChronicleBenchmark {
    /** Bytes of the array. */
    @Param({"64", "4096"})
    private int bytes;

    private final PointerBytesStore store = new PointerBytesStore();
    private Arena arena;
    private byte[] array;

    /**
     * Makes memory with one encoded payload.
     *
     * @throws IllegalStateException if it is not what Rackcall's writer makes
     */
    @Setup(Level.Trial)
    public void encodeOnce() {
        arena = Arena.ofShared();
        MemorySegment memory = arena.allocate(bytes + CodecBenchmark.ROOM, Long.BYTES);
        MemorySegment other = arena.allocate(bytes + CodecBenchmark.ROOM, Long.BYTES);
        store.set(memory.address(), memory.byteSize());
        array = new byte[bytes];
        PayloadWriter writer = PayloadWriter.create((old, used, needed) -> old);
        writer.begin(other);
        writer.writeLong(bytes);
        writer.writeString(CodecBenchmark.TEXT, "text");
        writer.writeBytes(array, "array");
        if (write() != writer.length() || memory.mismatch(other) >= 0) {
            throw new IllegalStateException("Chronicle Bytes writes another payload");
        }
    }

    /** Gives the memory back. */
    @TearDown(Level.Trial)
    public void free() {
        arena.close();
    }

    /** A number, a text of 16 letters and an array are encoded. */
    @Benchmark
    public long write() {
        store.writeLong(0, bytes);
        byte[] letters = CodecBenchmark.TEXT.getBytes(StandardCharsets.ISO_8859_1);
        store.writeInt(Long.BYTES, letters.length);
        long at = Long.BYTES + Integer.BYTES;
        store.write(at, letters, 0, letters.length);
        at += letters.length;
        store.writeInt(at, bytes);
        store.write(at + Integer.BYTES, array, 0, bytes);
        return at + Integer.BYTES + bytes;
    }

    /** The same is decoded into new Java objects. */
    @Benchmark
    public long read() {
        byte[] letters = new byte[store.readInt(Long.BYTES)];
        long at = Long.BYTES + Integer.BYTES;
        store.read(at, letters, 0, letters.length);
        at += letters.length;
        byte[] copy = new byte[store.readInt(at)];
        store.read(at + Integer.BYTES, copy, 0, copy.length);
        return store.readLong(0) + new String(letters, StandardCharsets.UTF_8).length() + copy.length;
    }
}
