package dev.rackcall.shm;

import java.util.function.LongSupplier;

/**
 * Hands out runs of pages. A run is claimed head first and freed head last, each step one compare-and-set in the {@link PageTable}, so that
 * a process killed in between leaves only pages behind that a HEAD with its participant number leads to; {@link #reclaim} frees them.
 *
 * <p>What makes that safe for any number of processes:
 *
 * <ul>
 *   <li>Only the participant that a HEAD names touches the run's tails. Whoever wants a run, to free it, to adopt it or to reclaim it from the
 *       dead, first changes its HEAD in one step, which of several can succeed for one only.
 *   <li>That step raises the generation, unless the run stays in use: so a late comer with an old Ref or an old entry fails.
 *   <li>Tails are claimed in ascending and freed in descending order, so those of a half-claimed or half-freed run follow its head without a gap.
 * </ul>
 *
 * <p>In front of the table is a cache of runs that this process has freed, so that the common case costs the same whatever the table looks
 * like. It is guarded by a Java lock, which dies with the process. Thread-safe.
 */
final class PageAllocator {
    /** Runs that other processes may claim from under our search before it gives up; each time somebody else has made progress. */
    private static final int MAX_COLLISIONS = 64;
    /** A process may keep an eighth of the arena in its cache, but always a few pages: others cannot use them. */
    private static final int CACHE_SHARE = 8;

    private static final int MIN_CACHE_PAGES = 16;

    /** No page. */
    static final int NONE = -1;

    private final PageTable table;
    private final int owner;
    /** Pages that are backed by memory now. */
    private final LongSupplier usablePages;

    private final RunCache cache = new RunCache();
    /** Where the next search begins; only the lowest free page that this process knows of, no promise. */
    private int hint;

    PageAllocator(PageTable table, int owner, LongSupplier usablePages) {
        this.table = table;
        this.owner = owner;
        this.usablePages = usablePages;
    }

    // ---- allocating

    /** The first page of a run of {@code length} pages, or {@link #NONE} if there is none among the usable pages. */
    synchronized int allocate(int length) {
        int found = takeCached(length);
        if (found == NONE) {
            found = claimAnywhere(length);
        }
        if (found == NONE && cache.pages() > 0) {
            flush();
            found = claimAnywhere(length);
        }
        return found;
    }

    private int takeCached(int length) {
        for (long run = cache.take(length); run != RunCache.NONE; run = cache.take(length)) {
            int head = RunCache.head(run);
            // It is somebody else's if this process was taken for dead while it was not.
            if (table.get(head) == PageEntry.head(owner, RunCache.generation(run), length)) {
                return head;
            }
        }
        return NONE;
    }

    private int claimAnywhere(int length) {
        for (int collision = 0; collision < MAX_COLLISIONS; collision++) {
            int pages = usable();
            int from = Math.min(hint, pages);
            int found = search(from, pages, length);
            if (found == NONE) {
                found = search(0, Math.min(pages, from + length), length);
            }
            if (found == NONE) {
                return NONE;
            }
            hint = found + length;
            if (claim(found, length)) {
                return found;
            }
        }
        return NONE;
    }

    private int search(int from, int to, int length) {
        int run = 0;
        for (int page = from; page < to; page++) {
            run = PageEntry.state(table.get(page)) == PageEntry.FREE ? run + 1 : 0;
            if (run == length) {
                return page - length + 1;
            }
        }
        return NONE;
    }

    private boolean claim(int head, int length) {
        long free = table.get(head);
        int generation = youngest(head, length);
        long claimed = PageEntry.head(owner, generation, length);
        if (PageEntry.state(free) != PageEntry.FREE || !table.compareAndSet(head, free, claimed)) {
            return false;
        }
        for (int i = 1; i < length; i++) {
            long entry = table.get(head + i);
            // A page that became younger since was another run's meanwhile: a Ref into that one could have our
            // generation.
            if (PageEntry.state(entry) != PageEntry.FREE
                    || PageEntry.generation(entry) > generation
                    || !table.compareAndSet(head + i, entry, PageEntry.tail(owner, PageEntry.generation(entry), i))) {
                release(head, claimed, i);
                return false;
            }
        }
        return true;
    }

    /** A run is at least as young as each of its pages, so that no Ref from one of their former runs has its generation. */
    private int youngest(int head, int length) {
        int generation = 0;
        for (int page = head; page < head + length; page++) {
            generation = Math.max(generation, PageEntry.generation(table.get(page)));
        }
        return generation;
    }

    // ---- freeing

    /** Frees the run at {@code head} if it still is this process's, and of that generation; returns whether it was. */
    synchronized boolean free(int head, int generation) {
        long entry = table.get(head);
        if (!isRunOf(entry, owner, generation)) {
            return false;
        }
        // From here on nobody can adopt the run, and Refs into it are stale.
        long retired = PageEntry.retired(entry, owner);
        if (!table.compareAndSet(head, entry, retired)) {
            return false;
        }
        int length = lengthAt(head, entry);
        if (!cache.put(
                head, PageEntry.generation(retired), length, Math.max(MIN_CACHE_PAGES, usable() / CACHE_SHARE))) {
            release(head, retired, length);
        }
        return true;
    }

    /** Raises the generation of a run, so that Refs into it go stale; returns the new generation, or -1 if it is not this process's. */
    int renew(int head, int generation) {
        long entry = table.get(head);
        if (!isRunOf(entry, owner, generation)) {
            return NONE;
        }
        long renewed = PageEntry.retired(entry, owner);
        return table.compareAndSet(head, entry, renewed) ? PageEntry.generation(renewed) : NONE;
    }

    /** Tails first, head last: until the head is free, it leads to what remains. Its generation must be one that no Ref has. */
    private void release(int head, long headEntry, int length) {
        long free = PageEntry.free(PageEntry.generation(headEntry));
        for (int i = length - 1; i > 0; i--) {
            table.compareAndSet(head + i, table.get(head + i), free);
        }
        table.compareAndSet(head, headEntry, free);
        hint = Math.min(hint, head);
    }

    /** Gives cached runs back to the table, for whoever needs their pages in another shape. */
    synchronized void flush() {
        for (int length = 1; length <= RunCache.maxLength(); length++) {
            for (int head = takeCached(length); head != NONE; head = takeCached(length)) {
                release(head, table.get(head), length);
            }
        }
    }

    // ---- other participants

    /** Gives the run at {@code head} to another participant: one step, before which it is {@code from}'s and after which it is theirs. */
    boolean transfer(int head, int generation, int from, int to) {
        long entry = table.get(head);
        return isRunOf(entry, from, generation) && table.compareAndSet(head, entry, PageEntry.owned(entry, to));
    }

    /**
     * Frees every run of a participant that is dead for good; returns how many. May be killed, repeated, and run by several at once: each run
     * becomes this participant's before it is freed. Looks at the whole table once.
     */
    int reclaim(int dead) {
        int freed = 0;
        int pages = usable();
        for (int page = 0; page < pages; page++) {
            long entry = table.get(page);
            if (PageEntry.isHeadOf(entry, dead) && freeFromTheDead(page, entry)) {
                freed++;
            }
        }
        return freed;
    }

    private synchronized boolean freeFromTheDead(int head, long entry) {
        long taken = PageEntry.retired(entry, owner);
        if (!table.compareAndSet(head, entry, taken)) {
            return false;
        }
        release(head, taken, pagesHeld(head, lengthAt(head, entry)));
        return true;
    }

    /** How many pages of a run are still, or already, its own: it may have been claimed or freed in part. */
    private int pagesHeld(int head, int length) {
        int held = 1;
        while (held < length && PageEntry.isTail(table.get(head + held), held)) {
            held++;
        }
        return held;
    }

    // ---- looking

    /** The head of the run that {@code page} belongs to, or {@link #NONE}; whatever the entries hold. */
    int headOf(int page) {
        long entry = table.get(page);
        int state = PageEntry.state(entry);
        if (state == PageEntry.HEAD) {
            return page;
        }
        int head = page - PageEntry.length(entry);
        if (state != PageEntry.TAIL || head < 0) {
            return NONE;
        }
        long headEntry = table.get(head);
        return PageEntry.state(headEntry) == PageEntry.HEAD && page - head < PageEntry.length(headEntry) ? head : NONE;
    }

    int generation(int head) {
        return PageEntry.generation(table.get(head));
    }

    int length(int head) {
        return lengthAt(head, table.get(head));
    }

    /** Never beyond the table, whatever the entry says. */
    private int lengthAt(int head, long entry) {
        return Math.clamp(PageEntry.length(entry), 1, table.pages() - head);
    }

    private static boolean isRunOf(long entry, int owner, int generation) {
        return PageEntry.isHeadOf(entry, owner) && ((PageEntry.generation(entry) ^ generation) & 0xff) == 0;
    }

    /** Pages that nobody has; pages in this process's cache count as free. */
    synchronized long freePages() {
        long free = cache.pages();
        int pages = usable();
        for (int page = 0; page < pages; page++) {
            free += PageEntry.state(table.get(page)) == PageEntry.FREE ? 1 : 0;
        }
        return free;
    }

    private int usable() {
        return (int) Math.min(usablePages.getAsLong(), table.pages());
    }
}
