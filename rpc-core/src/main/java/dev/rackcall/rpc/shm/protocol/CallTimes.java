package dev.rackcall.rpc.shm.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * How long calls took, as the client counts it in the connection's header for observers: one counter for each bucket of
 * nanoseconds. One call in {@link #EVERY} is timed, so that the others need not read the clock. Calls and servers do
 * not read these counters. Thread-safe.
 *
 * <p>Eight buckets for each power of two: a bucket is at most an eighth wider than its least time.
 */
public final class CallTimes {
    /** One call of so many is timed. */
    public static final int EVERY = 64;

    /** Up to eighteen minutes; the last bucket has all longer times. */
    public static final int BUCKETS = 304;

    private static final int FINE_BITS = 3;
    private static final int FINE = 1 << FINE_BITS;
    /** The odd number next to 2^64 divided by the golden ratio: consecutive tickets give well mixed high bits. */
    private static final long MIXER = 0x9E3779B97F4A7C15L;

    private static final int TOP_BITS = Integer.numberOfTrailingZeros(EVERY);
    private static final VarHandle COUNT = ValueLayout.JAVA_INT.varHandle();

    private CallTimes() {}

    /**
     * Reads the clock for a call that is to be timed.
     *
     * @return what {@link #end} needs; 0: the call is not timed
     */
    public static long begin(long ticket) {
        // Not each 64th: callers that repeat a pattern of calls would always show the same one.
        return (ticket * MIXER) >>> (Long.SIZE - TOP_BITS) == 0 ? System.nanoTime() | 1 : 0;
    }

    /** Counts a call whose answer has arrived. Called at most once for each {@link #begin} that was not 0. */
    public static void end(MemorySegment memory, long begun) {
        count(memory, System.nanoTime() - begun);
    }

    static void count(MemorySegment memory, long nanos) {
        // Any order would do. This is one instruction, while getAndAddRelease is a loop in JDK 25.
        COUNT.getAndAdd(memory, ControlLayout.TIMES + (long) bucket(nanos) * Integer.BYTES, 1);
    }

    /** How many timed calls fell into a bucket, modulo 2^32; any number if a peer overwrote it. */
    static int count(MemorySegment memory, int bucket) {
        return memory.get(ValueLayout.JAVA_INT, ControlLayout.TIMES + (long) bucket * Integer.BYTES);
    }

    /** All of {@link #count}. */
    public static int[] counts(MemorySegment memory) {
        return memory.asSlice(ControlLayout.TIMES, (long) BUCKETS * Integer.BYTES)
                .toArray(ValueLayout.JAVA_INT);
    }

    static int bucket(long nanos) {
        if (nanos < FINE) {
            return (int) Math.max(0, nanos);
        }
        int shift = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos) - FINE_BITS;
        return Math.min(BUCKETS - 1, shift * FINE + (int) (nanos >>> shift));
    }

    /** The least time in nanoseconds that a bucket counts. */
    static long least(int bucket) {
        if (bucket < FINE) {
            return bucket;
        }
        int shift = bucket / FINE - 1;
        return (long) (FINE + bucket % FINE) << shift;
    }

    /** The middle of the times that a bucket counts, in nanoseconds. */
    public static double middle(int bucket) {
        return (least(bucket) + least(bucket + 1)) / 2.0;
    }
}
