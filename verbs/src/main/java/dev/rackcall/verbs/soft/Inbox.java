package dev.rackcall.verbs.soft;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Bytes that came over a connection and are not handled yet. Used by one thread at a time. */
final class Inbox {
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(4 * FrameLayout.MAX_FRAME);
    private final MemorySegment memory = MemorySegment.ofBuffer(buffer);
    private int start;
    private int end;

    MemorySegment memory() {
        return memory;
    }

    /** Where the first byte is that is not handled. */
    int position() {
        return start;
    }

    int available() {
        return end - start;
    }

    /** @return bytes that came; negative at the end of the connection */
    int read(LinkChannel channel) throws IOException {
        int count = channel.read(buffer.limit(buffer.capacity()).position(end));
        end += Math.max(0, count);
        return count;
    }

    /** Takes as much as there is room for. */
    void take(ByteBuf bytes) {
        int count = Math.min(bytes.readableBytes(), buffer.capacity() - end);
        bytes.readBytes(buffer.limit(end + count).position(end));
        end += count;
    }

    void consume(int bytes) {
        start += bytes;
    }

    /** Makes room for one more frame at least, once all whole frames are consumed. */
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
