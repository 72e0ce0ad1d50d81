package dev.rackcall.shm.alloc;

/**
 * Runs that this process has freed and keeps for its next allocations: by length, last in first out. The page table
 * still lists them as its own, so they are reclaimed with everything else when it dies. Guarded by the lock of its
 * {@link PageAllocator}.
 */
final class RunCache {
    static final int MAX_LENGTH = 64;
    private static final int MAX_PER_LENGTH = 16;

    private final long[][] runs = new long[MAX_LENGTH + 1][];
    private final int[] counts = new int[MAX_LENGTH + 1];
    private int pages;

    /**
     * Whether it would keep one more run. It refuses long runs, a full list of that length, and more than {@code
     * maxPages} in all.
     */
    boolean hasRoom(int length, int maxPages) {
        return length <= MAX_LENGTH && counts[length] < MAX_PER_LENGTH && pages + length <= maxPages;
    }

    /** Keeps a {@link PageRun} for which it {@link #hasRoom}. */
    void push(long run, int length) {
        if (runs[length] == null) {
            runs[length] = new long[MAX_PER_LENGTH];
        }
        runs[length][counts[length]++] = run;
        pages += length;
    }

    /** A run of this length, or {@link PageRun#NONE}. */
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
