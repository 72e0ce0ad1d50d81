package dev.rackcall.shm;

import java.util.function.LongSupplier;

/**
 * Hands out runs of pages. A run is claimed head first and freed head last, each step one compare-and-set in the {@link PageTable}, so that
 * a process killed in between leaves only pages behind that a HEAD with its participant number leads to; {@link #reclaim} frees them.
 *
 * <p>In front of the table is a cache of runs that this process has freed, so that the common case costs the same whatever the table looks
 * like. It is guarded by a Java lock, which dies with the process. Thread-safe.
 */
final class PageAllocator {
    private static final int CACHED_LENGTHS = 64;
    private static final int CACHED_PER_LENGTH = 16;
    /** Passes over the table before giving up while others claim under our feet. */
    private static final int MAX_PASSES = 4;

    /** No page. */
    static final int NONE = -1;

    private final PageTable table;
    private final int owner;
    /** Pages that are backed by memory now. */
    private final LongSupplier usablePages;

    private final int[][] cached = new int[CACHED_LENGTHS + 1][];
    private final int[] cachedCount = new int[CACHED_LENGTHS + 1];
    private int cachedPages;
    private int hint;

    PageAllocator(PageTable table, int owner, LongSupplier usablePages) {
        this.table = table;
        this.owner = owner;
        this.usablePages = usablePages;
    }

    // ---- allocating

    /** The first page of a run of {@code length} pages, or {@link #NONE} if there is none among the usable pages. */
    synchronized int allocate(int length) {
        if (length <= CACHED_LENGTHS && cachedCount[length] > 0) {
            cachedPages -= length;
            return cached[length][--cachedCount[length]];
        }
        int found = claimAnywhere(length);
        if (found == NONE && cachedPages > 0) {
            flush();
            found = claimAnywhere(length);
        }
        return found;
    }

    private int claimAnywhere(int length) {
        for (int pass = 0; pass < MAX_PASSES; pass++) {
            int pages = usable();
            int from = Math.min(hint, pages);
            int found = search(from, pages, length);
            if (found == NONE) {
                found = search(0, Math.min(pages, from + length), length);
            }
            if (found == NONE) {
                return NONE;
            }
            if (claim(found, length)) {
                hint = found + length;
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
        if (PageEntry.state(free) != PageEntry.FREE
                || !table.compareAndSet(head, free, PageEntry.head(owner, generation, length))) {
            return false;
        }
        for (int i = 1; i < length; i++) {
            long entry = table.get(head + i);
            long tail = PageEntry.tail(owner, PageEntry.generation(entry), i);
            if (PageEntry.state(entry) != PageEntry.FREE || !table.compareAndSet(head + i, entry, tail)) {
                release(head, table.get(head), i);
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
        if (!isMine(entry, generation)) {
            return false;
        }
        int length = Math.min(PageEntry.length(entry), table.pages() - head);
        if (length > CACHED_LENGTHS || count(length) == CACHED_PER_LENGTH) {
            release(head, entry, length);
            return true;
        }
        if (!renew(head, entry)) {
            return false;
        }
        if (cached[length] == null) {
            cached[length] = new int[CACHED_PER_LENGTH];
        }
        cached[length][cachedCount[length]++] = head;
        cachedPages += length;
        return true;
    }

    private int count(int length) {
        return cachedCount[length];
    }

    private boolean isMine(long entry, int generation) {
        return PageEntry.isHeadOf(entry, owner) && (PageEntry.generation(entry) & 0xff) == (generation & 0xff);
    }

    /** Raises the generation of a run, so that Refs into it go stale; returns the new generation, or -1 if it is not this process's. */
    int renew(int head, int generation) {
        long entry = table.get(head);
        return isMine(entry, generation) && renew(head, entry) ? PageEntry.generation(table.get(head)) : NONE;
    }

    private boolean renew(int head, long entry) {
        return table.compareAndSet(
                head, entry, PageEntry.head(owner, PageEntry.generation(entry) + 1, PageEntry.length(entry)));
    }

    /** Tails first, head last: until the head is free, it leads to what remains. */
    private void release(int head, long headEntry, int length) {
        long free = PageEntry.free(PageEntry.generation(headEntry) + 1);
        for (int i = length - 1; i > 0; i--) {
            long entry = table.get(head + i);
            if (PageEntry.state(entry) == PageEntry.TAIL && PageEntry.length(entry) == i) {
                table.compareAndSet(head + i, entry, free);
            }
        }
        table.compareAndSet(head, headEntry, free);
        hint = Math.min(hint, head);
    }

    /** Gives cached runs back to the table, for whoever needs their pages in another shape. */
    synchronized void flush() {
        for (int length = 1; length <= CACHED_LENGTHS; length++) {
            while (cachedCount[length] > 0) {
                int head = cached[length][--cachedCount[length]];
                release(head, table.get(head), length);
            }
        }
        cachedPages = 0;
    }

    // ---- other participants

    /** Gives the run at {@code head} to another participant: one step, before which it is ours and after which it is theirs. */
    boolean transfer(int head, int generation, int from, int to) {
        long entry = table.get(head);
        return PageEntry.isHeadOf(entry, from)
                && (PageEntry.generation(entry) & 0xff) == (generation & 0xff)
                && table.compareAndSet(
                        head, entry, PageEntry.head(to, PageEntry.generation(entry), PageEntry.length(entry)));
    }

    /**
     * Frees every run of a participant that is dead for good; returns how many. May be killed, repeated, and run by several at once. Looks
     * at the whole table once.
     */
    int reclaim(int dead) {
        int freed = 0;
        int pages = usable();
        for (int page = 0; page < pages; page++) {
            long entry = table.get(page);
            if (PageEntry.isHeadOf(entry, dead)) {
                release(page, entry, Math.min(PageEntry.length(entry), pages - page));
                freed++;
            }
        }
        return freed;
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
        return Math.min(PageEntry.length(table.get(head)), table.pages() - head);
    }

    /** Pages that nobody has; pages in this process's cache count as free. */
    synchronized long freePages() {
        long free = cachedPages;
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
