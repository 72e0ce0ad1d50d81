package dev.rackcall.grpc.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * Reads frames from the peer's pipe. The peer may change any byte at any time, so each is read once: headers into
 * fields, payloads into arrays. The caller lets one thread read at a time.
 */
final class PipeReader {
    private static final int MASK = PipeLayout.PIPE_BYTES - 1;
    /** How much may be read before the peer learns that it has room again. */
    private static final int LAZY_BYTES = PipeLayout.PIPE_BYTES / 4;

    private final MemorySegment memory;
    private final PipeLayout.Side writer;
    private final long pipe;
    private long head;
    private long published;
    /** The peer's tail when it was last read and checked. */
    private long tail;

    private int length;
    private long kindAndFlags;
    private long streamAndExtra;

    PipeReader(MemorySegment memory, PipeLayout.Side writer) {
        this.memory = memory;
        this.writer = writer;
        this.pipe = PipeLayout.pipe(writer);
    }

    /** Whether the peer has published frames that were not read. Any thread; a hint. */
    boolean hasFrames() {
        return PipeLayout.tail(memory, writer) != head;
    }

    /**
     * Reads the next frame's header; false if there is none.
     *
     * @throws FrameBreachException if the peer's words contradict each other
     */
    boolean next() {
        if (head == tail) {
            long seen = PipeLayout.tail(memory, writer);
            if (seen == head) {
                return false;
            }
            if (seen - head < Frame.HEADER_BYTES || seen - head > PipeLayout.PIPE_BYTES || (seen & 7) != 0) {
                throw new FrameBreachException("a pipe read up to byte " + head + " ends at byte " + seen);
            }
            tail = seen;
        }
        if (tail - head < Frame.HEADER_BYTES) {
            throw new FrameBreachException("a frame of " + (tail - head) + " bytes");
        }
        long first = memory.get(JAVA_LONG, pipe + (head & MASK));
        streamAndExtra = memory.get(JAVA_LONG, pipe + ((head + Long.BYTES) & MASK));
        kindAndFlags = first >>> 32;
        length = (int) first;
        if (length < 0 || length > PipeLayout.MAX_PAYLOAD || Frame.bytes(length) > tail - head) {
            throw new FrameBreachException(
                    "a frame claims a payload of " + length + " bytes, of which " + (tail - head) + " can be there");
        }
        return true;
    }

    /** How much was read, as last stored. */
    long released() {
        return published;
    }

    int length() {
        return length;
    }

    int kind() {
        return (int) kindAndFlags & 0xff;
    }

    int flags() {
        return (int) (kindAndFlags >>> 8) & 0xff;
    }

    int stream() {
        return (int) streamAndExtra;
    }

    int extra() {
        return (int) (streamAndExtra >>> 32);
    }

    /** Copies the payload of the current frame and leaves the frame. */
    byte[] take() {
        byte[] payload = new byte[length];
        int at = (int) (head + Frame.HEADER_BYTES) & MASK;
        int first = Math.min(length, PipeLayout.PIPE_BYTES - at);
        MemorySegment.copy(memory, JAVA_BYTE, pipe + at, payload, 0, first);
        if (first < length) {
            MemorySegment.copy(memory, JAVA_BYTE, pipe, payload, first, length - first);
        }
        head += Frame.bytes(length);
        return payload;
    }

    /** Stores how much was read: at once, or only when that is worth a notice. Returns whether it was stored. */
    boolean release(boolean now) {
        if (head == published || (!now && head - published < LAZY_BYTES)) {
            return false;
        }
        published = head;
        PipeLayout.head(memory, writer, head);
        return true;
    }
}
