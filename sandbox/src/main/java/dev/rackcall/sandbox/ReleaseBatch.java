package dev.rackcall.sandbox;

import java.util.Arrays;

/** Seals that wait to be released together. Guarded by its owner's lock; allocates nothing once warm. */
final class ReleaseBatch {
    private final SealAuthority table;
    private final int threshold;
    private final boolean[] queued;
    private long[] waiting;
    private long[] done;
    private int count;
    private long pages;

    ReleaseBatch(SealAuthority table, int threshold) {
        this.table = table;
        this.threshold = threshold;
        this.queued = new boolean[table.capacity()];
        this.waiting = new long[Math.min(threshold, table.capacity())];
        this.done = new long[waiting.length];
    }

    /** Adds a held seal, once; returns whether the batch is large enough now. */
    boolean add(long seal) {
        int index = SealRingLayout.index(seal);
        if (!queued[index]) {
            queued[index] = true;
            if (count == waiting.length) {
                waiting = Arrays.copyOf(waiting, 2 * count);
                done = Arrays.copyOf(done, waiting.length);
            }
            waiting[count++] = seal;
            pages += table.pagesOf(seal);
        }
        return count >= threshold || pages >= threshold;
    }

    /** Whether a seal that is held, if any, waits here. */
    boolean contains(long seal) {
        return table.isHeld(seal) && queued[SealRingLayout.index(seal)];
    }

    int size() {
        return count;
    }

    /** Moves the seals whose receiver is done to {@link #taken}, and forgets those that were released meanwhile; returns how many were moved. */
    int takeDone() {
        int doneCount = 0;
        int kept = 0;
        pages = 0;
        for (int i = 0; i < count; i++) {
            long seal = waiting[i];
            if (table.isDone(seal)) {
                done[doneCount++] = seal;
            } else if (table.isHeld(seal)) {
                waiting[kept++] = seal;
                pages += table.pagesOf(seal);
            }
        }
        count = kept;
        return doneCount;
    }

    /** What the last {@link #takeDone} found. */
    long[] taken() {
        return done;
    }

    /** A seal that was released, from here or early. */
    void released(long seal) {
        queued[SealRingLayout.index(seal)] = false;
    }
}
