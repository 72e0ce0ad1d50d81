package dev.rackcall.shm.alloc;

import java.util.function.LongSupplier;

/**
 * Allocates runs of pages for one participant, through {@link PageRuns}. Each process caches runs that it has freed, so
 * that the common case has a constant cost. Other participants can take cached runs when memory is short. A Java lock
 * guards the cache and dies with the process; there is no lock in shared memory. Thread-safe.
 */
public final class PageAllocator {
    /** A process may cache an eighth of the arena, and always a few pages. */
    private static final int CACHE_SHARE = 8;

    private static final int MIN_CACHE_PAGES = 16;

    /** How often to sweep an arena that seems full, while other participants are claiming or freeing pages. */
    private static final int MAX_SWEEPS = 32;

    /** No page. */
    public static final int NONE = PageRuns.NONE;

    /** Is notified of the current generation of each run's Refs. */
    public interface Observer {
        /** Does nothing, for participants that see the page table themselves. */
        Observer NONE = new Observer() {
            @Override
            public void used(int page, int pages, int generation) {}

            @Override
            public void freed(int page, int pages, int generation) {}
        };

        /**
         * Called before a run is handed out, and after Refs into it became stale while its owner keeps it. Called under
         * the allocator's lock, or by the run's owner.
         */
        void used(int page, int pages, int generation);

        /**
         * Called after Refs into a run became stale, before it can be handed out again. No Ref has that generation yet.
         * Called under the allocator's lock, or by the run's owner.
         */
        void freed(int page, int pages, int generation);
    }

    private final PageRuns runs;
    /** Pages that are backed by memory now. */
    private final LongSupplier usablePages;
    /** Whether other participants allocate from the table and may take cached runs. */
    private final boolean isShared;

    private final Observer observer;

    private final RunCache cache = new RunCache();
    /** Where the next search begins, usually the lowest free page. Only a hint. */
    private int hint;
    /** Whether another participant won a race during the last search. */
    private boolean lostRace;

    private PageAllocator(PageTable table, int owner, LongSupplier usablePages, boolean isShared, Observer observer) {
        this.observer = observer;
        this.runs = new PageRuns(table, owner);
        this.usablePages = usablePages;
        this.isShared = isShared;
    }

    /** For a table from which other participants allocate too. */
    public static PageAllocator sharing(PageTable table, int owner, LongSupplier usablePages) {
        return new PageAllocator(table, owner, usablePages, true, Observer.NONE);
    }

    /** For a table that only this process uses. */
    public static PageAllocator alone(PageTable table, int owner, LongSupplier usablePages, Observer observer) {
        return new PageAllocator(table, owner, usablePages, false, observer);
    }

    // ---- allocating

    /**
     * Allocates a {@link PageRun} of {@code length} pages. Returns {@link PageRun#NONE} if the usable pages seem to
     * have no such run.
     */
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
            observer.used(PageRun.page(run), length, PageRun.generation(run));
        }
        return run;
    }

    /**
     * As {@link #allocate(int)}, for pages that begin at {@code first} or a multiple of {@code step} behind it.
     *
     * @param length longer than any cached run
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
     * Allocates after {@link #allocate} found nothing. Takes runs that other participants have cached, waits while runs
     * are being claimed or freed, and scans the whole table.
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
        // Another participant may have taken the run, or reclaimed it because it took this process for dead.
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

    /** Passes over each page once: after a lost race the search continues behind the other participant's run. */
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

    /** Frees the run at {@code head} if this process still owns it in that generation. Returns whether it did. */
    public boolean free(int head, int generation) {
        return free(head, runs.mine(head, generation));
    }

    /** As {@link #free(int, int)}, if the epoch matches too. */
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
        // From here on the run cannot be adopted, and Refs into it are stale.
        long retired = keep && isShared ? runs.retire(head, entry) : runs.renew(head, entry);
        if (retired == 0) {
            return false;
        }
        observer.freed(head, length, PageEntry.generation(retired));
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
     * Makes Refs into a run stale and returns the {@link PageRun} that replaces it, on the same pages. Returns NONE if
     * this process does not own the run. After the last generation, the pages are freed and claimed again. Returns a
     * blocked run if another participant took one of them in between.
     */
    public long renew(int head, int generation, int epoch) {
        long entry = mine(head, generation, epoch);
        long renewed = entry == 0 ? 0 : runs.renew(head, entry);
        if (renewed == 0) {
            return PageRun.NONE;
        }
        int length = runs.lengthAt(head, renewed);
        if (PageEntry.isLastUse(entry)) {
            observer.freed(head, length, PageEntry.generation(renewed));
            return claimAgain(head, renewed, length);
        }
        observer.used(head, length, PageEntry.generation(renewed));
        return PageRun.of(head, renewed);
    }

    private synchronized long claimAgain(int head, long renewed, int length) {
        release(head, renewed);
        long run = runs.claim(head, length);
        return PageRun.isBlocked(run) ? run : handOut(run, length);
    }

    /** Returns cached runs to the table, so that their pages can form other runs. */
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
     * Frees every run of a dead participant and returns how many. The process may be killed in the meantime, the call
     * may be repeated, and several processes may call it at once, because each run is first taken over. Scans the whole
     * table.
     */
    public int reclaim(int dead) {
        int freed = 0;
        int pages = usable();
        int page = 0;
        while (page < pages) {
            int held = runs.isHeadOf(page, dead) ? reclaim(page, dead) : 0;
            if (held == 0) {
                // The dead process may have freed a page without updating the hint.
                runs.unhide(page++);
            } else {
                // Continue behind the run, whatever the entries say now. A participant that writes into the table must
                // not prolong the scan.
                page += held;
                freed++;
            }
        }
        return freed;
    }

    private synchronized int reclaim(int head, int dead) {
        int held = runs.reclaim(head, dead);
        if (held > 0) {
            observer.freed(head, held, runs.generation(head));
            hint = Math.min(hint, head);
        }
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

    /** Pages that are not in use, including those cached by any participant. Scans the whole table. */
    public synchronized long freePages() {
        return (isShared ? 0L : cache.pages()) + runs.unusedPages(usable());
    }

    private int usable() {
        return Math.clamp(usablePages.getAsLong(), 0, runs.pages());
    }
}
