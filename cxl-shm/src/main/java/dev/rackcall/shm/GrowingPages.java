package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageAllocator;
import dev.rackcall.shm.alloc.PageEntry;
import dev.rackcall.shm.alloc.PageRun;
import dev.rackcall.shm.os.ByteSize;

/** Allocates an arena's pages. When they run out, backs more of the arena with memory, up to the quota. Thread-safe. */
final class GrowingPages {
    private final ArenaSpec spec;
    private final Extents extents;
    private final PageAllocator pages;
    private final long quota;
    private final long firstPage;
    /** Arena pages per page of memory if long runs are aligned to pages of memory; otherwise 1. */
    private final int unit;

    GrowingPages(ArenaSpec spec, Extents extents, PageAllocator pages) {
        this.spec = spec;
        this.extents = extents;
        this.pages = pages;
        this.quota = spec.region().byteSize();
        this.firstPage = extents.firstPage();
        this.unit = unitOf(spec);
    }

    /** With several allocators, runs are not rounded up to huge pages, since that takes memory from the others. */
    private static int unitOf(ArenaSpec spec) {
        long bytes = spec.file().pageBytes();
        boolean aligned = spec.home() == TableHome.PRIVATE && spec.fileOffset() % bytes == 0;
        return aligned ? Math.toIntExact(bytes >>> ArenaLayout.PAGE_SHIFT) : 1;
    }

    /**
     * Allocates a {@link PageRun} of {@code wanted} bytes or, failing that, a shorter one of at least {@code needed}
     * bytes.
     *
     * @throws OutOfArenaException if the quota or the host's memory does not suffice
     */
    long allocate(long wanted, long needed) {
        checkSize(needed);
        long run = PageRun.NONE;
        for (long bytes = Math.max(wanted, needed); run == PageRun.NONE; bytes = Math.max(bytes / 2, needed)) {
            OutOfArenaException hostIsFull = null;
            try {
                run = pagesOrGrow(lengthFor(bytes));
            } catch (OutOfArenaException e) {
                hostIsFull = e;
            }
            if (run == PageRun.NONE && bytes == needed) {
                run = pages.allocateFromOthers(lengthFor(needed));
                if (run == PageRun.NONE) {
                    throw hostIsFull != null ? hostIsFull : full(needed);
                }
            }
        }
        return run;
    }

    /** Rejects a size that this arena can never allocate. */
    void checkSize(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("arena " + spec.id() + " cannot allocate " + bytes + " bytes");
        }
        if (bytes > Math.min(quota - firstPage, (long) PageEntry.MAX_LENGTH << ArenaLayout.PAGE_SHIFT)) {
            throw full(bytes);
        }
    }

    /** Number of pages for {@code bytes}, limited to the maximum length of a run. */
    static int lengthFor(long bytes) {
        return Math.clamp(ArenaLayout.roundUp(bytes) >>> ArenaLayout.PAGE_SHIFT, 1, PageEntry.MAX_LENGTH);
    }

    private long pagesOrGrow(int length) {
        long run = length > unit / 2 && unit > 1 ? unitsOrGrow(length) : PageRun.NONE;
        return run == PageRun.NONE ? smallPagesOrGrow(length) : run;
    }

    /** Allocates whole units, so that write-protecting them does not affect other runs. */
    private long unitsOrGrow(int length) {
        int rounded = (length + unit - 1) / unit * unit;
        int first = (int) (unit - (firstPage >>> ArenaLayout.PAGE_SHIFT) % unit) % unit;
        if (rounded > PageEntry.MAX_LENGTH - unit) {
            return PageRun.NONE;
        }
        long run = pages.allocate(rounded, first, unit);
        while (run == PageRun.NONE
                && first + (long) rounded <= (quota - firstPage) >>> ArenaLayout.PAGE_SHIFT
                // The backed part may end in the middle of a unit.
                && extents.grow((long) (rounded + unit) << ArenaLayout.PAGE_SHIFT)) {
            run = pages.allocate(rounded, first, unit);
        }
        return run;
    }

    private long smallPagesOrGrow(int length) {
        if (length > (quota - firstPage) >>> ArenaLayout.PAGE_SHIFT) {
            return PageRun.NONE;
        }
        long run = pages.allocate(length);
        while (run == PageRun.NONE && extents.grow((long) length << ArenaLayout.PAGE_SHIFT)) {
            run = pages.allocate(length);
        }
        return run;
    }

    private OutOfArenaException full(long bytes) {
        long free = (pages.freePages() << ArenaLayout.PAGE_SHIFT) + quota - extents.reserved();
        return new OutOfArenaException(
                "arena " + spec.id() + " (" + ByteSize.describe(quota) + ") is full: " + ByteSize.describe(bytes)
                        + " asked, " + ByteSize.describe(free) + " free"
                        + (free >= bytes ? " but not in one piece" : ""),
                spec.advice());
    }
}
