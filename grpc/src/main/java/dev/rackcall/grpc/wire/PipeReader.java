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
    /** Frames of messages that are taken together, and the longest payload of several. */
    private static final int MOST_IN_RUN = 256;

    private static final int RUN_BYTES = 2 * PipeLayout.MAX_PAYLOAD;

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

    /** The lengths of the frames that are taken together. */
    private final int[] run = new int[MOST_IN_RUN];

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
        copy(payload, 0, length);
        return payload;
    }

    /**
     * Takes the current DATA frame and the DATA frames of its stream that follow at once, and returns their payloads as
     * one array. Stops at the end of the stream, and after {@value #MOST_IN_RUN} frames, because a peer may send many
     * empty ones. Then {@link #flags} are those of the last frame. Small messages cost little each this way.
     */
    byte[] takeRun() {
        int count = 0;
        int bytes = length;
        long at = head + Frame.bytes(length);
        run[count++] = length;
        // What is wrong in a later header is reported when its turn comes.
        while (count < MOST_IN_RUN && (flags() & Frame.END) == 0 && tail - at >= Frame.HEADER_BYTES) {
            long first = memory.get(JAVA_LONG, pipe + (at & MASK));
            int more = (int) first;
            if (((first >>> 32) & 0xff) != Frame.DATA
                    || more < 0
                    || more > RUN_BYTES - bytes
                    || more > PipeLayout.MAX_PAYLOAD
                    || Frame.bytes(more) > tail - at
                    || (int) memory.get(JAVA_LONG, pipe + ((at + Long.BYTES) & MASK)) != stream()) {
                break;
            }
            kindAndFlags = first >>> 32;
            run[count++] = more;
            bytes += more;
            at += Frame.bytes(more);
        }
        byte[] payload = new byte[bytes];
        int to = 0;
        for (int i = 0; i < count; i++) {
            copy(payload, to, run[i]);
            to += run[i];
        }
        return payload;
    }

    /** Copies the next frame's payload, of that length, and leaves the frame. */
    private void copy(byte[] payload, int to, int bytes) {
        int at = (int) (head + Frame.HEADER_BYTES) & MASK;
        int first = Math.min(bytes, PipeLayout.PIPE_BYTES - at);
        MemorySegment.copy(memory, JAVA_BYTE, pipe + at, payload, to, first);
        if (first < bytes) {
            MemorySegment.copy(memory, JAVA_BYTE, pipe, payload, to + first, bytes - first);
        }
        head += Frame.bytes(bytes);
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
