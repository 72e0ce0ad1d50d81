package dev.rackcall.shm.alloc;

/**
 * Runs that this process has freed and keeps for its next allocations, by length, last in first out. The page table
 * still lists them as runs of this process, so they are reclaimed when it dies. Guarded by the lock of its {@link
 * PageAllocator}.
 */
final class RunCache {
    static final int MAX_LENGTH = 64;
    private static final int MAX_PER_LENGTH = 16;

    private final long[][] runs = new long[MAX_LENGTH + 1][];
    private final int[] counts = new int[MAX_LENGTH + 1];
    private int pages;

    /**
     * Whether one more run fits. The limits are the length of a run, the number of runs of that length, and {@code
     * maxPages} in total.
     */
    boolean hasRoom(int length, int maxPages) {
        return length <= MAX_LENGTH && counts[length] < MAX_PER_LENGTH && pages + length <= maxPages;
    }

    /** Adds a {@link PageRun}; call it only if {@link #hasRoom} returned true. */
    void push(long run, int length) {
        if (runs[length] == null) {
            runs[length] = new long[MAX_PER_LENGTH];
        }
        runs[length][counts[length]++] = run;
        pages += length;
    }

    /** Removes and returns a run of this length; {@link PageRun#NONE} if there is none. */
    long pop(int length) {
        if (length > MAX_LENGTH || counts[length] == 0) {
            return PageRun.NONE;
        }
        pages -= length;
        return runs[length][--counts[length]];
    }

    /** Pages of all cached runs. Other participants may have taken some of them. */
    int pages() {
        return pages;
    }
}
