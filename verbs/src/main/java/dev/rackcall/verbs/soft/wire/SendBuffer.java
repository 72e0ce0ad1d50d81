package dev.rackcall.verbs.soft.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Frames that are written to the socket together. Used by one thread at a time. */
public final class SendBuffer {
    private static final int CAPACITY = 4 * FrameLayout.MAX_FRAME;

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(CAPACITY);
    private final MemorySegment memory = MemorySegment.ofBuffer(buffer);
    private int filled;

    public MemorySegment memory() {
        return memory;
    }

    /** Where the next frame begins. */
    public int position() {
        return filled;
    }

    public boolean hasRoom(int bytes) {
        return CAPACITY - filled >= bytes;
    }

    public void advance(int bytes) {
        filled += bytes;
    }

    boolean isEmpty() {
        return filled == 0;
    }

    /** The bytes that are not written yet. */
    ByteBuffer toWrite() {
        return buffer.limit(filled);
    }

    void clear() {
        buffer.clear();
        filled = 0;
    }
}
