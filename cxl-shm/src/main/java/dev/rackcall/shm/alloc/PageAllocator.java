package dev.rackcall.shm.alloc;

import java.util.function.LongSupplier;

/**
 * Hands out runs of pages to one participant. In front of the {@link PageRuns} that all participants share is a cache of runs that this process has
 * freed, so that the common case costs the same whatever the table looks like; the others can take those when they need them. The cache is
 * guarded by a Java lock, which dies with the process; nothing else holds a lock. Thread-safe.
 */
public final class PageAllocator {
    /** A process may keep an eighth of the arena in its cache, but always a few pages. */
    private static final int CACHE_SHARE = 8;

    private static final int MIN_CACHE_PAGES = 16;

    /** Looks at an arena that seems full, as long as each meets somebody who is just claiming or freeing. */
    private static final int MAX_SWEEPS = 32;

    /** No page. */
    public static final int NONE = PageRuns.NONE;

    /** Who is told with which generation Refs into a run are to be followed from now on. */
    public interface Observer {
        /** Of those who see the page table themselves. */
        Observer NONE = (page, pages, generation) -> {};

        /** Before the run is handed out, or after its Refs have gone stale and before it can be handed out again. */
        void changed(int page, int pages, int generation);
    }

    private final PageRuns runs;
    /** Pages that are backed by memory now. */
    private final LongSupplier usablePages;
    /** Whether others allocate from the same table, and may take what is in the cache. */
    private final boolean isShared;

    private final Observer observer;

    private final RunCache cache = new RunCache();
    /** Where the next search begins; only the lowest free page that this process knows of, no promise. */
    private int hint;
    /** Somebody was faster during the last search. */
    private boolean lostRace;

    private PageAllocator(PageTable table, int owner, LongSupplier usablePages, boolean isShared, Observer observer) {
        this.observer = observer;
        this.runs = new PageRuns(table, owner);
        this.usablePages = usablePages;
        this.isShared = isShared;
    }

    /** For a table that others allocate from too. */
    public static PageAllocator sharing(PageTable table, int owner, LongSupplier usablePages) {
        return new PageAllocator(table, owner, usablePages, true, Observer.NONE);
    }

    /** For a table that is this process's alone. */
    public static PageAllocator alone(PageTable table, int owner, LongSupplier usablePages, Observer observer) {
        return new PageAllocator(table, owner, usablePages, false, observer);
    }

    // ---- allocating

    /** The {@link PageRun} of {@code length} pages, or {@link PageRun#NONE} if there seems to be none among the usable pages. */
    public synchronized long allocate(int length) {
        long run = takeCached(length);
        if (run == PageRun.NONE) {
            run = claimAnywhere(length);
        }
        if (run == PageRun.NONE && cache.pages() > 0) {
            flush();
            run = claimAnywhere(length);
        }
        return handOut(run, length);
    }

    private long handOut(long run, int length) {
        if (run != PageRun.NONE) {
            observer.changed(PageRun.page(run), length, PageRun.generation(run));
        }
        return run;
    }

    /**
     * As {@link #allocate(int)}, of pages that begin at {@code first} or some multiple of {@code step} behind it.
     *
     * @param length more than the cache keeps
     */
    public synchronized long allocate(int length, int first, int step) {
        long run = claimAt(length, first, step);
        if (run == PageRun.NONE && cache.pages() > 0) {
            flush();
            run = claimAt(length, first, step);
        }
        return handOut(run, length);
    }

    private long claimAt(int length, int first, int step) {
        int pages = usable();
        for (int page = first; page <= pages - length; page += step) {
            if (runs.find(page, page + length, length) == page) {
                long run = runs.claim(page, length);
                if (!PageRun.isBlocked(run)) {
                    return run;
                }
            }
        }
        return PageRun.NONE;
    }

    /**
     * As {@link #allocate}, when that found nothing: also takes what others have freed and keep, waits for those who are just claiming or freeing,
     * and looks at the whole table for that.
     */
    public synchronized long allocateFromOthers(int length) {
        for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
            lostRace = false;
            boolean moving = runs.sweep(usable());
            hint = 0;
            long run = claimAnywhere(length);
            if (run != PageRun.NONE || (!moving && !lostRace)) {
                return handOut(run, length);
            }
            Thread.yield();
        }
        return PageRun.NONE;
    }

    private long takeCached(int length) {
        long run = cache.pop(length);
        // It may be somebody else's by now, or this process was taken for dead.
        while (run != PageRun.NONE && !(isShared ? runs.revive(run, length) : runs.isUntouched(run, length))) {
            run = cache.pop(length);
        }
        return run;
    }

    private long claimAnywhere(int length) {
        int pages = usable();
        int from = Math.min(hint, pages);
        long run = claimWithin(from, pages, length);
        return run == PageRun.NONE && from > 0 ? claimWithin(0, Math.min(pages, from + length - 1), length) : run;
    }

    /** Passes over each page once: a run that somebody else got first is looked for behind what he has. */
    private long claimWithin(int from, int to, int length) {
        int page = runs.find(from, to, length);
        while (page >= 0) {
            long run = runs.claim(page, length);
            if (!PageRun.isBlocked(run)) {
                hint = page + length;
                return run;
            }
            lostRace = true;
            page = runs.find(PageRun.blocker(run) + 1, to, length);
        }
        return PageRun.NONE;
    }

    // ---- freeing

    /** Frees the run at {@code head} if it still is this process's, and of that generation; returns whether it was. */
    public boolean free(int head, int generation) {
        return free(head, runs.mine(head, generation));
    }

    /** As {@link #free(int, int)}, if it also is of that epoch. */
    public boolean free(int head, int generation, int epoch) {
        return free(head, mine(head, generation, epoch));
    }

    private long mine(int head, int generation, int epoch) {
        long entry = runs.mine(head, generation);
        return PageEntry.epoch(entry) == epoch ? entry : 0;
    }

    private synchronized boolean free(int head, long entry) {
        if (entry == 0) {
            return false;
        }
        int length = PageEntry.length(entry);
        boolean keep = !PageEntry.isLastUse(entry)
                && length > 0
                && length <= runs.pages() - head
                && cache.hasRoom(length, Math.max(MIN_CACHE_PAGES, usable() / CACHE_SHARE));
        // From here on nobody can adopt the run, and Refs into it are stale.
        long retired = keep && isShared ? runs.retire(head, entry) : runs.renew(head, entry);
        if (retired == 0) {
            return false;
        }
        observer.changed(head, length, PageEntry.generation(retired));
        if (keep) {
            cache.push(PageRun.of(head, retired), length);
        } else {
            release(head, retired);
        }
        return true;
    }

    private void release(int head, long entry) {
        runs.release(head, entry);
        hint = Math.min(hint, head);
    }

    /**
     * Makes Refs into a run stale; the {@link PageRun} that takes its place, of the same pages. NONE if it is not this process's; blocked, with its pages freed, if they had to be claimed
     * anew and somebody else was faster.
     */
    public long renew(int head, int generation, int epoch) {
        long entry = mine(head, generation, epoch);
        long renewed = entry == 0 ? 0 : runs.renew(head, entry);
        if (renewed == 0) {
            return PageRun.NONE;
        }
        int length = runs.lengthAt(head, renewed);
        observer.changed(head, length, PageEntry.generation(renewed));
        return PageEntry.isLastUse(entry) ? claimAgain(head, renewed, length) : PageRun.of(head, renewed);
    }

    private synchronized long claimAgain(int head, long renewed, int length) {
        release(head, renewed);
        long run = runs.claim(head, length);
        return PageRun.isBlocked(run) ? run : handOut(run, length);
    }

    /** Gives cached runs back to the table, for whoever needs their pages in another shape. */
    synchronized void flush() {
        for (int length = 1; length <= RunCache.MAX_LENGTH; length++) {
            for (long run = takeCached(length); run != PageRun.NONE; run = takeCached(length)) {
                int head = PageRun.page(run);
                long entry = runs.mine(head, PageRun.generation(run));
                if (entry != 0) {
                    release(head, entry);
                }
            }
        }
    }

    // ---- other participants

    /** See {@link PageRuns#heldBy}. */
    public long heldBy(int participant, int head, int generation) {
        return runs.heldBy(participant, head, generation);
    }

    /** See {@link PageRuns#takeOver}. */
    public boolean takeOver(int head, long entry) {
        return runs.takeOver(head, entry);
    }

    /**
     * Frees every run of a participant that is dead for good; returns how many. May be killed, repeated, and run by several at once: each run
     * becomes this participant's before it is freed. Looks at the whole table once.
     */
    public int reclaim(int dead) {
        int freed = 0;
        int pages = usable();
        int page = 0;
        while (page < pages) {
            int held = runs.isHeadOf(page, dead) ? reclaim(page, dead) : 0;
            if (held == 0) {
                // The dead may have freed a page and not said so.
                runs.unhide(page++);
            } else {
                // Behind it, whatever stands there now: who writes into the table must not make this go on and on.
                page += held;
                freed++;
            }
        }
        return freed;
    }

    private synchronized int reclaim(int head, int dead) {
        int held = runs.reclaim(head, dead);
        hint = held > 0 ? Math.min(hint, head) : hint;
        return held;
    }

    // ---- looking

    /** See {@link PageRuns#headOf}. */
    public int headOf(int page) {
        return runs.headOf(page);
    }

    public int generation(int head) {
        return runs.generation(head);
    }

    public int length(int head) {
        return runs.length(head);
    }

    /** Pages that nobody uses, also those that somebody keeps for his next allocation. Looks at the whole table. */
    public synchronized long freePages() {
        return (isShared ? 0L : cache.pages()) + runs.unusedPages(usable());
    }

    private int usable() {
        return Math.clamp(usablePages.getAsLong(), 0, runs.pages());
    }
}
