package dev.rackcall.shm.alloc;

/** An allocated run of pages in one non-negative {@code long}: its first page, its epoch and its generation. */
public final class PageRun {
    /** No run. */
    public static final long NONE = Long.MIN_VALUE;

    private static final int EPOCH_SHIFT = 8;
    private static final int GENERATION_MASK = 0xff;

    private PageRun() {}

    static long of(int page, long head) {
        return (long) page << Integer.SIZE | PageEntry.epoch(head) << EPOCH_SHIFT | PageEntry.generation(head);
    }

    public static int page(long run) {
        return (int) (run >>> Integer.SIZE);
    }

    static int epoch(long run) {
        return (int) run >>> EPOCH_SHIFT;
    }

    public static int generation(long run) {
        return (int) run & GENERATION_MASK;
    }

    /** The entry that the table holds while {@code owner} uses the run. */
    static long head(long run, int owner, int length) {
        return PageEntry.head(owner, (int) run >>> EPOCH_SHIFT, generation(run), length);
    }

    // ---- what blocked a claim

    /** No run, because another participant has {@code page}. */
    static long blockedAt(int page) {
        return -1L - page;
    }

    public static boolean isBlocked(long run) {
        return run < 0;
    }

    static int blocker(long blocked) {
        return (int) (-1L - blocked);
    }
}
