package dev.rackcall.grpc.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** Writes frames into this end's pipe. The caller lets one thread write at a time. */
final class PipeWriter {
    private static final int MASK = PipeLayout.PIPE_BYTES - 1;

    private final MemorySegment memory;
    private final PipeLayout.Side side;
    private final long pipe;
    private long tail;
    private long published;
    /** The reader's head when it was last read; it only grows. */
    private long head;

    PipeWriter(MemorySegment memory, PipeLayout.Side side) {
        this.memory = memory;
        this.side = side;
        this.pipe = PipeLayout.pipe(side);
    }

    /**
     * Whether a frame with that payload fits now.
     *
     * @throws FrameBreachException if the peer has claimed to have read what was never written
     */
    boolean hasRoom(int payload) {
        int bytes = Frame.bytes(payload);
        if (PipeLayout.PIPE_BYTES - (tail - head) >= bytes) {
            return true;
        }
        long read = PipeLayout.head(memory, side);
        if (read - head < 0 || tail - read < 0) {
            throw new FrameBreachException(
                    "the peer has read up to byte " + read + " of a pipe with bytes " + head + " to " + tail);
        }
        head = read;
        return PipeLayout.PIPE_BYTES - (tail - head) >= bytes;
    }

    /** Writes a frame for which {@link #hasRoom} is true; the peer does not see it until {@link #publish}. */
    void write(int kind, int flags, int stream, int extra, byte[] bytes, int from, int length) {
        putLong(tail, (length & 0xffff_ffffL) | (long) kind << 32 | (long) flags << 40);
        putLong(tail + Long.BYTES, (stream & 0xffff_ffffL) | (long) extra << 32);
        int at = (int) (tail + Frame.HEADER_BYTES) & MASK;
        int first = Math.min(length, PipeLayout.PIPE_BYTES - at);
        MemorySegment.copy(bytes, from, memory, JAVA_BYTE, pipe + at, first);
        if (first < length) {
            MemorySegment.copy(bytes, from + first, memory, JAVA_BYTE, pipe, length - first);
        }
        tail += Frame.bytes(length);
    }

    private void putLong(long position, long value) {
        memory.set(JAVA_LONG, pipe + (position & MASK), value);
    }

    /** Whether there are frames that the peer does not see. */
    boolean hasUnpublished() {
        return tail != published;
    }

    /** Up to which byte of the pipe the peer sees frames. */
    long published() {
        return published;
    }

    /** Shows the peer all frames; returns {@link #published}. */
    long publish() {
        published = tail;
        PipeLayout.tail(memory, side, tail);
        return tail;
    }
}
