package dev.rackcall.verbs.soft.wire;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Received bytes that are not handled yet. Used by one thread at a time. */
final class ReceiveBuffer {
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(4 * FrameLayout.MAX_FRAME);
    private final MemorySegment memory = MemorySegment.ofBuffer(buffer);
    private int start;
    private int end;

    MemorySegment memory() {
        return memory;
    }

    /** Position of the first byte that is not handled. */
    int position() {
        return start;
    }

    int available() {
        return end - start;
    }

    /** Returns the number of bytes read; negative at the end of the link. */
    int read(LinkChannel channel) throws IOException {
        int count = channel.read(buffer.limit(buffer.capacity()).position(end));
        end += Math.max(0, count);
        return count;
    }

    /** Copies as many bytes as fit. */
    void take(ByteBuf bytes) {
        int count = Math.min(bytes.readableBytes(), buffer.capacity() - end);
        bytes.readBytes(buffer.limit(end + count).position(end));
        end += count;
    }

    void consume(int bytes) {
        start += bytes;
    }

    /** Makes room for at least one more frame, after all complete frames are consumed. */
    void tidy() {
        if (start == end) {
            start = 0;
            end = 0;
        } else if (buffer.capacity() - end < FrameLayout.MAX_FRAME) {
            MemorySegment.copy(memory, start, memory, 0, end - start);
            end -= start;
            start = 0;
        }
    }
}
