package dev.rackcall.shm.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;

/** Which processors the calling thread may run on (sched_setaffinity(2)). */
public final class Affinity {
    /** Room for 8192 processors, the maximum of Linux. */
    private static final int MASK_BYTES = 1024;

    private Affinity() {}

    /**
     * Pins the calling platform thread to one processor.
     *
     * @throws OsException if that processor is offline or not allowed to this process
     * @throws IllegalStateException on a virtual thread, whose carrier would stay pinned
     */
    public static void pin(int cpu) {
        if (Thread.currentThread().isVirtual()) {
            throw new IllegalStateException(
                    "a virtual thread cannot be pinned to cpu " + cpu + ": use a platform thread");
        }
        if (cpu < 0 || cpu >= MASK_BYTES * Byte.SIZE) {
            throw new IllegalArgumentException("no such cpu: " + cpu + "; available: " + Arrays.toString(available()));
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
            mask.setAtIndex(JAVA_LONG, cpu / Long.SIZE, 1L << cpu % Long.SIZE);
            CallState state = CallState.current();
            if (LibcProcess.schedSetaffinity(state.errnoSegment(), 0, MASK_BYTES, mask) != 0) {
                throw new OsException(
                        "pinning this thread to cpu " + cpu,
                        state.errno(),
                        "available: " + Arrays.toString(available()));
            }
        }
    }

    /**
     * Lets the calling platform thread run on all processors that its process was started with. A thread inherits the
     * processors of its parent, so a helper thread of a pinned thread would otherwise compete with it.
     */
    public static void asProcess() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
            CallState state = CallState.current();
            if (LibcProcess.schedGetaffinity(state.errnoSegment(), firstThread(), MASK_BYTES, mask) < 0
                    || LibcProcess.schedSetaffinity(state.errnoSegment(), 0, MASK_BYTES, mask) != 0) {
                throw state.failure("giving this thread the processors of its process");
            }
        }
    }

    /**
     * Moves the calling platform thread from its processor to any other one that it may use, and then allows it the
     * same processors as before. Costs some microseconds.
     *
     * @return false if the thread may use no other processor, or the kernel refuses
     */
    public static boolean moveAside() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(MASK_BYTES, Long.BYTES);
            MemorySegment others = arena.allocate(MASK_BYTES, Long.BYTES);
            CallState state = CallState.current();
            if (LibcProcess.schedGetaffinity(state.errnoSegment(), 0, MASK_BYTES, all) < 0) {
                return false;
            }
            others.copyFrom(all);
            int processor = Processor.current();
            long word = others.getAtIndex(JAVA_LONG, processor / Long.SIZE);
            others.setAtIndex(JAVA_LONG, processor / Long.SIZE, word & ~(1L << processor));
            return LibcProcess.schedSetaffinity(state.errnoSegment(), 0, MASK_BYTES, others) == 0
                    && LibcProcess.schedSetaffinity(state.errnoSegment(), 0, MASK_BYTES, all) == 0;
        }
    }

    /** Processors that the calling thread may use now, ascending. */
    public static int[] available() {
        return available(0);
    }

    /** Processors that this process was started with, ascending; {@link #pin} changes those of one thread only. */
    public static int[] ofProcess() {
        return available(firstThread());
    }

    private static int[] available(int thread) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
            CallState state = CallState.current();
            if (LibcProcess.schedGetaffinity(state.errnoSegment(), thread, MASK_BYTES, mask) < 0) {
                throw state.failure("asking for the processors of thread " + thread + "");
            }
            return BitSet.valueOf(mask.toArray(JAVA_LONG)).stream().toArray();
        }
    }

    /** The process's first thread, which only waits for the JVM to end and is never pinned. */
    private static int firstThread() {
        return (int) ProcessHandle.current().pid();
    }
}
