package dev.rackcall.verbs.soft.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * The direct buffers of a device's links: 64 bytes for a hello, more when the peer is accepted, and large ones only for
 * traffic that needs them. A link gives them back when it ends. So their number is bounded by that of open links, and
 * no link waits for the garbage collector. Thread-safe.
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

    /** Direct like the others: code that reads both kinds of memory is compiled to slower code. */
    static final int TINY = FrameLayout.HELLO_BYTES;

    static final int SMALL = 8 << 10;
    static final int LARGE = 4 * FrameLayout.MAX_FRAME;

    private final ArrayDeque<Block> tiny = new ArrayDeque<>();
    private final ArrayDeque<Block> small = new ArrayDeque<>();
    private final ArrayDeque<Block> large = new ArrayDeque<>();

    /** The smallest block with room for this many bytes, at most {@link #LARGE}. */
    synchronized Block take(int bytes) {
        int size = bytes <= TINY ? TINY : bytes <= SMALL ? SMALL : LARGE;
        Block block = free(size).poll();
        if (block == null) {
            block = new Block(ByteBuffer.allocateDirect(size));
        }
        return block;
    }

    synchronized void giveBack(Block block) {
        block.buffer.clear();
        free(block.bytes()).push(block);
    }

    private ArrayDeque<Block> free(int size) {
        return switch (size) {
            case TINY -> tiny;
            case SMALL -> small;
            default -> large;
        };
    }
}
