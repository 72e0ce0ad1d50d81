package dev.rackcall.shm.codec;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

/** Native memory for payloads, which grows by copying. {@link #close} frees all of it. */
final class TestMemory implements PayloadWriter.Growth, AutoCloseable {
    private final Arena arena = Arena.ofConfined();
    private int growths;

    MemorySegment allocate(long bytes) {
        return arena.allocate(bytes);
    }

    /** A writer at the start of new memory of that size, which may be 0. */
    PayloadWriter writer(long bytes) {
        PayloadWriter out = PayloadWriter.create(this);
        out.begin(bytes == 0 ? MemorySegment.NULL : allocate(bytes));
        return out;
    }

    /** A reader over the written bytes. */
    static PayloadReader read(PayloadWriter out) {
        PayloadReader in = PayloadReader.create();
        in.begin(out.buffer(), 0, out.length());
        return in;
    }

    /** A reader over exactly these bytes. */
    PayloadReader read(byte[] bytes) {
        MemorySegment memory = allocate(Math.max(1, bytes.length));
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
        PayloadReader in = PayloadReader.create();
        in.begin(memory, 0, bytes.length);
        return in;
    }

    PayloadReader readHex(String bytes) {
        return read(HexFormat.of().parseHex(bytes.replace(" ", "")));
    }

    static byte[] bytes(PayloadWriter out) {
        return out.buffer().asSlice(0, out.length()).toArray(ValueLayout.JAVA_BYTE);
    }

    int growths() {
        return growths;
    }

    @Override
    public MemorySegment grow(MemorySegment old, long used, long needed) {
        growths++;
        MemorySegment larger = allocate(needed);
        MemorySegment.copy(old, 0, larger, 0, used);
        return larger;
    }

    @Override
    public void close() {
        arena.close();
    }
}
