package dev.rackcall.rpc.shm.pool;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.function.LongConsumer;

/**
 * The page behind a connection's arenas in a pool, through which its ends ring. Each end writes only its own half.
 *
 * <pre>
 *     0  beat     moved by the side's watcher as long as it lives
 *    64  stage    0 open, 1 ended, 2 left: does not use the connection's memory any more
 *   128  rings    how often it has rung
 *   192  posted   numbers that this side has sent
 *   256  taken    how many of the other side's numbers this side has read
 *   512  the last 64 numbers
 * </pre>
 */
final class BellLayout {
    static final long BYTES = 4096;
    static final int NUMBERS = 64;
    static final long OPEN = 0;
    static final long ENDED = 1;
    static final long LEFT = 2;

    private static final long HALF = BYTES / 2;
    private static final long BEAT = 0;
    private static final long STAGE = 64;
    private static final long RINGS = 128;
    private static final long POSTED = 192;
    private static final long TAKEN = 256;
    private static final long RING = 512;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private BellLayout() {}

    static MemorySegment half(MemorySegment page, boolean ofServer) {
        return page.asSlice(ofServer ? 0 : HALF, HALF);
    }

    /** Moves the beat. Called by one thread of each end. */
    static void beat(MemorySegment mine) {
        LONG.setOpaque(mine, BEAT, (long) LONG.getOpaque(mine, BEAT) + 1);
    }

    static long beats(MemorySegment half) {
        return (long) LONG.getOpaque(half, BEAT);
    }

    /** Release: an end that sees the stage also sees what was done before. Pairs with {@link #stage(MemorySegment)}. */
    static void stage(MemorySegment mine, long stage) {
        LONG.setRelease(mine, STAGE, stage);
    }

    /** Acquire: pairs with the store in {@link #stage(MemorySegment, long)}. */
    static long stage(MemorySegment half) {
        return (long) LONG.getAcquire(half, STAGE);
    }

    /** Any thread. Volatile: an end that counts the ring also sees what was published before. */
    static void ring(MemorySegment mine) {
        LONG.getAndAdd(mine, RINGS, 1L);
    }

    /** Acquire: pairs with the add in {@link #ring}. */
    static long rings(MemorySegment half) {
        return (long) LONG.getAcquire(half, RINGS);
    }

    /** Posts a number; returns false if {@link #NUMBERS} numbers are pending. One thread at a time. */
    static boolean post(MemorySegment mine, MemorySegment theirs, long number) {
        long posted = (long) LONG.getOpaque(mine, POSTED);
        // Acquire: pairs with the release in take; the previous number in that place was read.
        if (posted - (long) LONG.getAcquire(theirs, TAKEN) >= NUMBERS) {
            return false;
        }
        mine.set(ValueLayout.JAVA_LONG, RING + posted % NUMBERS * Long.BYTES, number);
        // Release: pairs with the acquire in take.
        LONG.setRelease(mine, POSTED, posted + 1);
        return true;
    }

    /**
     * Takes pending numbers; returns how many, at most {@link #NUMBERS} whatever the other end wrote. One thread at a
     * time.
     */
    static int take(MemorySegment mine, MemorySegment theirs, LongConsumer numbers) {
        long taken = (long) LONG.getOpaque(mine, TAKEN);
        // Acquire: pairs with the release in post.
        long posted = (long) LONG.getAcquire(theirs, POSTED);
        int count = Math.clamp(posted - taken, 0, NUMBERS);
        for (int i = 0; i < count; i++) {
            numbers.accept(theirs.get(ValueLayout.JAVA_LONG, RING + (taken + i) % NUMBERS * Long.BYTES));
        }
        if (count > 0) {
            LONG.setRelease(mine, TAKEN, taken + count);
        }
        return count;
    }
}
