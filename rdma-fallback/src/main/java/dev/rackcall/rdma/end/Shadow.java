package dev.rackcall.rdma.end;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A copy of some memory as the peer has it, which shows what the peer lacks. Pieces are sent from the copy. The peer
 * then has exactly what the copy has, even if a thread writes to the memory or frees it while a piece travels.
 *
 * <p>A piece begins and ends with a changed 8-byte word. Changed words less than {@link #JOINED_BYTES} apart form one
 * piece, since a request costs about as much as some words.
 *
 * <p>Not thread-safe: only one push of a connection looks for changes at a time. The caller keeps both segments mapped.
 */
public final class Shadow {
    /**
     * Fewer unchanged bytes than this between two changed words are sent along, instead of beginning another piece.
     * With 1 % of all words changed, 2 % of all bytes travel.
     */
    public static final int JOINED_BYTES = 128;

    private static final int WORD = Long.BYTES;

    private final MemorySegment memory;
    private final MemorySegment copy;

    /** Receives pieces of the copy, in ascending order. */
    @FunctionalInterface
    public interface Pieces {
        /**
         * Adds {@code length} bytes at {@code offset} that the peer lacks and the copy has. Both are multiples of 8.
         */
        void add(long offset, long length);
    }

    private Shadow(MemorySegment memory, MemorySegment copy) {
        this.memory = memory;
        this.copy = copy;
    }

    /**
     * A shadow for a peer whose memory equals {@code copy}.
     *
     * @throws IllegalArgumentException if the lengths differ, or are not a multiple of 8
     */
    public static Shadow of(MemorySegment memory, MemorySegment copy) {
        if (memory.byteSize() != copy.byteSize() || memory.byteSize() % WORD != 0) {
            throw new IllegalArgumentException("memory of " + memory.byteSize() + " bytes cannot have a shadow of "
                    + copy.byteSize() + " bytes: both must have the same length, a multiple of 8");
        }
        return new Shadow(memory, copy);
    }

    /**
     * Updates the copy and reports what the peer lacks.
     *
     * @param offset where the compared range begins, a multiple of 8
     * @param length how many bytes; bytes up to the next multiple of 8 may be sent along
     * @return bytes in all pieces
     * @throws IndexOutOfBoundsException if the range is not inside the memory
     */
    public long update(long offset, long length, Pieces pieces) {
        if (offset % WORD != 0) {
            throw new IllegalArgumentException("a push cannot begin at " + offset + ", which is not a multiple of 8");
        }
        long end = offset + (length + WORD - 1) / WORD * WORD;
        long moved = 0;
        long at = offset;
        while (at < end) {
            long same = MemorySegment.mismatch(memory, at, end, copy, at, end);
            if (same < 0) {
                break;
            }
            long start = (at + same) & -WORD;
            long stop = endOfPiece(start, end);
            MemorySegment.copy(memory, start, copy, start, stop - start);
            pieces.add(start, stop - start);
            moved += stop - start;
            at = stop;
        }
        return moved;
    }

    /** The end of the last changed word of the piece that begins at {@code start}. */
    private long endOfPiece(long start, long end) {
        long stop = start + WORD;
        for (long at = stop; at < end && at - stop < JOINED_BYTES; at += WORD) {
            if (memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at) != copy.get(ValueLayout.JAVA_LONG_UNALIGNED, at)) {
                stop = at + WORD;
            }
        }
        return stop;
    }
}
