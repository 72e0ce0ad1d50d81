package dev.rackcall.shm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The header of each run of a scope. With it, a receiver that has any object finds the whole scope. Values that a peer
 * wrote are checked before use.
 *
 * <pre>
 *   0  first        Ref of the scope's first run
 *   8  next         Ref of the next run, 0: none
 *  16  used         bytes from the run's start, this header included
 *  24  claim        epoch and generation of this run, see PageEntry; written last
 *  28  first epoch  of the scope's first run
 *  32  next epoch   of the next run
 *  64  objects
 * </pre>
 *
 * <p>A header stays in memory that is later used for something else. The claim tells whether it belongs to the present
 * run.
 */
final class RunLayout {
    static final int BYTES = 64;
    private static final int FIRST = 0;
    private static final int NEXT = 8;
    private static final int USED = 16;
    private static final int CLAIM = 24;
    private static final int FIRST_EPOCH = 28;
    private static final int NEXT_EPOCH = 32;

    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private RunLayout() {}

    /** Writes the header of the run at {@code ref}; the Ref carries the run's generation. */
    static void initialise(MemorySegment memory, long ref, int epoch, long first, int firstEpoch) {
        long run = Ref.offset(ref);
        memory.set(ValueLayout.JAVA_LONG, run + FIRST, first);
        memory.set(ValueLayout.JAVA_LONG, run + NEXT, Ref.NULL);
        memory.set(ValueLayout.JAVA_LONG, run + USED, BYTES);
        memory.set(ValueLayout.JAVA_INT, run + FIRST_EPOCH, firstEpoch);
        // Release: pairs with the acquire in isOf. A header with this word is complete.
        INT.setRelease(memory, run + CLAIM, claim(ref, epoch));
    }

    /** Whether the header belongs to the run at {@code ref} with that epoch. */
    static boolean isOf(MemorySegment memory, long ref, int epoch) {
        // Acquire: pairs with the release in initialise.
        return (int) INT.getAcquire(memory, Ref.offset(ref) + CLAIM) == claim(ref, epoch);
    }

    private static int claim(long ref, int epoch) {
        return epoch << Byte.SIZE | Ref.generation(ref);
    }

    static long first(MemorySegment memory, long run) {
        return memory.get(ValueLayout.JAVA_LONG, run + FIRST);
    }

    static int firstEpoch(MemorySegment memory, long run) {
        return memory.get(ValueLayout.JAVA_INT, run + FIRST_EPOCH);
    }

    static long next(MemorySegment memory, long run) {
        return memory.get(ValueLayout.JAVA_LONG, run + NEXT);
    }

    static int nextEpoch(MemorySegment memory, long run) {
        return memory.get(ValueLayout.JAVA_INT, run + NEXT_EPOCH);
    }

    static void next(MemorySegment memory, long run, long next, int nextEpoch) {
        memory.set(ValueLayout.JAVA_INT, run + NEXT_EPOCH, nextEpoch);
        memory.set(ValueLayout.JAVA_LONG, run + NEXT, next);
    }

    static long used(MemorySegment memory, long run) {
        return memory.get(ValueLayout.JAVA_LONG, run + USED);
    }

    static void used(MemorySegment memory, long run, long used) {
        memory.set(ValueLayout.JAVA_LONG, run + USED, used);
    }
}
