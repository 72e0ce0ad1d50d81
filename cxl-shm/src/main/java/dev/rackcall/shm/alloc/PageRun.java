package dev.rackcall.shm.alloc;

/** A run of pages as it was handed out, in one non-negative {@code long}: its first page, its epoch and its generation. */
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

    /** What the table must hold for it as long as {@code owner} uses it. */
    static long head(long run, int owner, int length) {
        return PageEntry.head(owner, (int) run >>> EPOCH_SHIFT, generation(run), length);
    }

    // ---- what stands in the way of a run

    /** No run, because somebody else has {@code page}. */
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
