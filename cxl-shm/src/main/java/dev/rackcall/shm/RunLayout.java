package dev.rackcall.shm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The first bytes of each run of a scope. They let a receiver find the whole scope from any object in it; what a peer wrote here is checked
 * before it is used.
 *
 * <pre>
 *   0  first   Ref of the scope's first run
 *   8  next    Ref of the next run, 0: none
 *  16  used    bytes from the run's start, this header included
 *  64  objects
 * </pre>
 */
final class RunLayout {
    static final int BYTES = 64;
    private static final int FIRST = 0;
    private static final int NEXT = 8;
    private static final int USED = 16;

    private RunLayout() {}

    static void initialise(MemorySegment memory, long run, long first) {
        memory.set(ValueLayout.JAVA_LONG, run + FIRST, first);
        memory.set(ValueLayout.JAVA_LONG, run + NEXT, Ref.NULL);
        memory.set(ValueLayout.JAVA_LONG, run + USED, BYTES);
    }

    static long first(MemorySegment memory, long run) {
        return memory.get(ValueLayout.JAVA_LONG, run + FIRST);
    }

    static long next(MemorySegment memory, long run) {
        return memory.get(ValueLayout.JAVA_LONG, run + NEXT);
    }

    static void next(MemorySegment memory, long run, long next) {
        memory.set(ValueLayout.JAVA_LONG, run + NEXT, next);
    }

    static long used(MemorySegment memory, long run) {
        return memory.get(ValueLayout.JAVA_LONG, run + USED);
    }

    static void used(MemorySegment memory, long run, long used) {
        memory.set(ValueLayout.JAVA_LONG, run + USED, used);
    }
}
