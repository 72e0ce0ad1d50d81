package dev.rackcall.verbs.soft.wire;

import dev.rackcall.verbs.soft.wire.BufferPool.Block;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Frames that are written to the socket together. Used by one thread at a time. */
public final class SendBuffer {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final BufferPool pool;
    /** Null before the first frame and after the link's end. */
    private Block block;

    private int filled;

    SendBuffer(BufferPool pool) {
        this.pool = pool;
    }

    /** Valid after {@link #hasRoom}. */
    public MemorySegment memory() {
        return block.memory();
    }

    /** Where the next frame begins. */
    public int position() {
        return filled;
    }

    /** Makes room for this many bytes, if there can be. */
    public boolean hasRoom(int bytes) {
        return (block != null && block.bytes() - filled >= bytes) || grow(bytes);
    }

    private boolean grow(int bytes) {
        if (filled + bytes > BufferPool.LARGE) {
            return false;
        }
        Block old = block;
        block = pool.take(filled + bytes);
        if (old != null) {
            MemorySegment.copy(old.memory(), 0, block.memory(), 0, filled);
            pool.giveBack(old);
        }
        return true;
    }

    public void advance(int bytes) {
        filled += bytes;
    }

    boolean isEmpty() {
        return filled == 0;
    }

    /** The bytes that are not written yet. */
    ByteBuffer toWrite() {
        return block == null ? NOTHING : block.buffer().limit(filled);
    }

    void clear() {
        if (block != null) {
            block.buffer().clear();
        }
        filled = 0;
    }

    /** Gives the memory back. */
    void release() {
        filled = 0;
        if (block != null) {
            pool.giveBack(block);
            block = null;
        }
    }
}
