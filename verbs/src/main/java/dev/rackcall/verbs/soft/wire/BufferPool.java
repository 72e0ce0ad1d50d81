package dev.rackcall.verbs.soft.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * The direct buffers of a device's links. A link takes them when its peer is accepted, larger ones only for traffic that
 * needs them, and gives them back when it ends. So their number is bounded by that of accepted links, and no link waits
 * for the garbage collector. Thread-safe.
 */
public final class BufferPool {
    /** A buffer, and the same memory as a segment. */
    static final class Block {
        private final ByteBuffer buffer;
        private final MemorySegment memory;

        private Block(ByteBuffer buffer) {
            this.buffer = buffer;
            this.memory = MemorySegment.ofBuffer(buffer);
        }

        ByteBuffer buffer() {
            return buffer;
        }

        MemorySegment memory() {
            return memory;
        }

        int bytes() {
            return buffer.capacity();
        }
    }

    static final int SMALL = 8 << 10;
    static final int LARGE = 4 * FrameLayout.MAX_FRAME;

    private final ArrayDeque<Block> small = new ArrayDeque<>();
    private final ArrayDeque<Block> large = new ArrayDeque<>();
    private long allocated;

    /** For a hello: on the heap, not pooled. */
    static Block forHello() {
        return new Block(ByteBuffer.allocate(FrameLayout.HELLO_BYTES));
    }

    /** The smallest block with room for so many bytes, at most {@link #LARGE}. */
    synchronized Block take(int bytes) {
        ArrayDeque<Block> free = bytes <= SMALL ? small : large;
        Block block = free.poll();
        if (block == null) {
            block = new Block(ByteBuffer.allocateDirect(bytes <= SMALL ? SMALL : LARGE));
            allocated += block.bytes();
        }
        return block;
    }

    synchronized void giveBack(Block block) {
        if (block.buffer.isDirect()) {
            block.buffer.clear();
            (block.bytes() == SMALL ? small : large).push(block);
        }
    }

    /** Bytes that this pool has allocated, in use or not. */
    public synchronized long allocated() {
        return allocated;
    }
}
