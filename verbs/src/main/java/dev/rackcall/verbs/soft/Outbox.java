package dev.rackcall.verbs.soft;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Frames that go out together. Used by whoever moves the connection's outgoing traffic, one thread at a time. */
final class Outbox {
    private static final int CAPACITY = 4 * FrameLayout.MAX_FRAME;

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(CAPACITY);
    private final MemorySegment memory = MemorySegment.ofBuffer(buffer);
    private int filled;

    MemorySegment memory() {
        return memory;
    }

    /** Where the next frame begins. */
    int position() {
        return filled;
    }

    boolean hasRoom(int bytes) {
        return CAPACITY - filled >= bytes;
    }

    void advance(int bytes) {
        filled += bytes;
    }

    boolean isEmpty() {
        return filled == 0;
    }

    /** What is to be written, from the position that was reached last. */
    ByteBuffer toWrite() {
        return buffer.limit(filled);
    }

    void clear() {
        buffer.clear();
        filled = 0;
    }
}
