package dev.rackcall.shm;

/**
 * Runs that a process has freed and keeps for its next allocations, by length, last in first out. In the page table they still are its own, so
 * that they are reclaimed with everything else when it dies. Guarded by the lock of its {@link PageAllocator}.
 */
final class RunCache {
    /** No run. */
    static final long NONE = -1;

    private static final int MAX_LENGTH = 64;
    private static final int MAX_PER_LENGTH = 16;

    private final long[][] runs = new long[MAX_LENGTH + 1][];
    private final int[] counts = new int[MAX_LENGTH + 1];
    private int pages;

    /** Keeps a run, unless it is long, or enough of its kind are here, or all would then hold more than {@code maxPages}. */
    boolean put(int head, int generation, int length, int maxPages) {
        if (length > MAX_LENGTH || counts[length] == MAX_PER_LENGTH || pages + length > maxPages) {
            return false;
        }
        if (runs[length] == null) {
            runs[length] = new long[MAX_PER_LENGTH];
        }
        runs[length][counts[length]++] = (long) head << Integer.SIZE | generation;
        pages += length;
        return true;
    }

    /** A run of this length, or {@link #NONE}. */
    long take(int length) {
        if (length > MAX_LENGTH || counts[length] == 0) {
            return NONE;
        }
        pages -= length;
        return runs[length][--counts[length]];
    }

    static int head(long run) {
        return (int) (run >>> Integer.SIZE);
    }

    static int generation(long run) {
        return (int) run;
    }

    /** Pages of all runs. */
    int pages() {
        return pages;
    }

    static int maxLength() {
        return MAX_LENGTH;
    }
}
