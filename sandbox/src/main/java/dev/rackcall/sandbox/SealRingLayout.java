package dev.rackcall.sandbox;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The descriptors of seals, and the marks of seals that are done. Only the sealing side writes descriptors; only the
 * receiver writes marks, which are in separate memory. A seal has one descriptor for each run of its scope, in
 * consecutive places of the ring.
 *
 * <pre>
 * descriptor, 32 bytes                                        mark, 4 bytes
 *    +0  word   : published last                                 sequence of the seal that the receiver is done with
 *    +8  run    : Ref of the run's first byte
 *   +16  bytes  : sealed from there on, whole pages
 *
 *        63           56 55           32 31                       0
 *       +---------------+---------------+--------------------------+
 *  word |     state     |   runs left   |         sequence         |
 *       +---------------+---------------+--------------------------+
 *
 *        63                           32 31                       0
 *       +-------------------------------+--------------------------+
 *  seal |           sequence            |  index of its first run  |
 *       +-------------------------------+--------------------------+
 * </pre>
 *
 * {@code runs left} counts the descriptors of the seal from this one on. The sequence is never 0 and differs from
 * seal to seal, so a mark or a number from an earlier use of the descriptor does not match.
 */
final class SealRingLayout {
    static final int DESCRIPTOR_BYTES = 32;
    static final int MARK_BYTES = 4;
    /** Two descriptors for each seal of a batch of the default size. */
    static final int DEFAULT_CAPACITY = 2048;

    static final int MAX_CAPACITY = 1 << 16;

    static final int FREE = 0;
    static final int SEALED = 1;
    /** A further run of the seal whose first descriptor precedes this one; not a seal by itself. */
    static final int CONTINUED = 3;

    /** The sealing side has opened the pages although the receiver was not done. */
    static final int REVOKED = 2;

    private static final int RUN = 8;
    private static final int BYTES = 16;
    private static final int RUNS_SHIFT = 32;
    private static final int STATE_SHIFT = 56;
    private static final int RUNS_MASK = (1 << (STATE_SHIFT - RUNS_SHIFT)) - 1;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private SealRingLayout() {}

    // ---- numbers

    static long seal(int sequence, int index) {
        return ((long) sequence << 32) | index;
    }

    static int sequence(long seal) {
        return (int) (seal >>> 32);
    }

    static int index(long seal) {
        return (int) seal;
    }

    static long word(int state, int runsLeft, int sequence) {
        return ((long) state << STATE_SHIFT) | ((long) runsLeft << RUNS_SHIFT) | (sequence & 0xffff_ffffL);
    }

    static int state(long word) {
        return (int) (word >>> STATE_SHIFT);
    }

    static int runsLeft(long word) {
        return (int) (word >>> RUNS_SHIFT) & RUNS_MASK;
    }

    static int sequenceOf(long word) {
        return (int) word;
    }

    static String describe(long seal) {
        return "seal " + index(seal) + "." + Integer.toUnsignedString(sequence(seal));
    }

    // ---- descriptors

    static int capacityOf(MemorySegment ring) {
        return (int) Math.min(MAX_CAPACITY, ring.byteSize() / DESCRIPTOR_BYTES);
    }

    static void describe(MemorySegment ring, int index, long run, long bytes) {
        ring.set(ValueLayout.JAVA_LONG, at(index) + RUN, run);
        ring.set(ValueLayout.JAVA_LONG, at(index) + BYTES, bytes);
    }

    /** Release: pairs with {@link #word(MemorySegment, int)}. A reader that sees the word also sees the stores of
     * {@link #describe} and the closed pages. */
    static void publish(MemorySegment ring, int index, long word) {
        LONG.setRelease(ring, at(index), word);
    }

    /** Acquire: pairs with {@link #publish}. */
    static long word(MemorySegment ring, int index) {
        return (long) LONG.getAcquire(ring, at(index));
    }

    static long run(MemorySegment ring, int index) {
        return ring.get(ValueLayout.JAVA_LONG, at(index) + RUN);
    }

    static long bytes(MemorySegment ring, int index) {
        return ring.get(ValueLayout.JAVA_LONG, at(index) + BYTES);
    }

    private static long at(int index) {
        return (long) index * DESCRIPTOR_BYTES;
    }

    // ---- marks

    /** Release: pairs with {@link #mark(MemorySegment, int)}. All reads of the scope by the receiver precede it. */
    static void mark(MemorySegment marks, int index, int sequence) {
        INT.setRelease(marks, (long) index * MARK_BYTES, sequence);
    }

    /** Acquire: pairs with {@link #mark(MemorySegment, int, int)}. */
    static int mark(MemorySegment marks, int index) {
        return (int) INT.getAcquire(marks, (long) index * MARK_BYTES);
    }
}
