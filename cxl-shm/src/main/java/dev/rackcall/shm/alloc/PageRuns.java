package dev.rackcall.shm.alloc;

/**
 * The operations of one participant on runs of pages. Each step is one compare-and-set in a {@link PageTable}. A
 * process that is killed between two steps leaves only pages of runs whose head has its number; {@link #reclaim} frees
 * them.
 *
 * <p>Why this is safe for any number of processes:
 *
 * <ul>
 *   <li>Only the participant that a HEAD names touches the run's tails. To free, adopt, reclaim or take a run, a
 *       participant first changes its head in one step, which only one of several can win.
 *   <li>That step raises the generation, unless the run stays in use. A late participant with an old Ref or an old
 *       entry therefore fails.
 *   <li>Tails are claimed in ascending and freed in descending order. The tails of a half-claimed or half-freed run
 *       follow its head without a gap.
 *   <li>Epoch and generation together do not repeat, since a run that has used up its generations is freed and not
 *       cached. If a step finds the entry that it expects, the entry has therefore not changed since it was read.
 *   <li>Tails have the epoch of their run, freed pages the next epoch, and later runs at least that one. A live
 *       participant that was declared dead and continues therefore frees no tail of a later run.
 * </ul>
 *
 * <p>Whatever the entries hold, no method accesses anything outside the table, or more entries than it has. {@link
 * #claim}, {@link #release}, {@link #reclaim} and {@link #sweep} are called under the lock of the {@link
 * PageAllocator}, the others by any thread.
 */
final class PageRuns {
    /** No page. */
    static final int NONE = -1;

    private final PageTable table;
    private final TakenMap taken;
    private final int owner;

    PageRuns(PageTable table, int owner) {
        this.table = table;
        this.taken = new TakenMap(table);
        this.owner = owner;
    }

    int pages() {
        return table.pages();
    }

    // ---- claiming

    /** Claims these pages. Returns the {@link PageRun}, or a blocked one that names the page in the way. */
    long claim(int head, int length) {
        long first = table.get(head);
        int base = PageEntry.generation(first);
        int lead = 0;
        int epochLead = 0;
        for (int page = head; page < head + length; page++) {
            long entry = table.get(page);
            if (!PageEntry.isFree(entry)) {
                return blocked(page);
            }
            epochLead = Math.max(epochLead, PageEntry.epochLead(entry, first));
            lead = Math.max(lead, lead(entry, base));
        }
        int epoch = PageEntry.epoch(first) + epochLead;
        long claimed = PageEntry.head(owner, epoch, usable(base + lead), length);
        if (!PageEntry.isFree(first) || !table.compareAndSet(head, first, claimed)) {
            return blocked(head);
        }
        for (int i = 1; i < length; i++) {
            long entry = table.get(head + i);
            // A page that was used since the loop above may have too high an epoch or generation: a Ref from that use
            // could pass for one into this run.
            boolean fits = PageEntry.isFree(entry)
                    && PageEntry.epochLead(entry, first) <= epochLead
                    && lead(entry, base) <= lead;
            if (!fits || !table.compareAndSet(head + i, entry, PageEntry.tail(epoch, i))) {
                release(head, claimed, i);
                return blocked(head + i);
            }
        }
        if (table.get(head) != claimed) {
            // Another participant took this process for dead and freed the pages claimed by then. Free the rest.
            release(head, claimed, length);
            return blocked(head);
        }
        taken.mark(head, length);
        return PageRun.of(head, claimed);
    }

    private long blocked(int page) {
        taken.markTaken(page, 1);
        return PageRun.blockedAt(page);
    }

    /** The generation, or the next one if no Ref may have it. */
    private static int usable(int generation) {
        return (generation & PageEntry.LAST_GENERATION) == PageEntry.LAST_GENERATION ? 0 : generation;
    }

    /** By how much a page's generation is ahead of {@code base}, modulo 256. */
    private static int lead(long entry, int base) {
        return (byte) (PageEntry.generation(entry) - base);
    }

    // ---- freeing

    /** The entry of this participant's run of that generation at {@code head}; 0 if it has none there. */
    long mine(int head, int generation) {
        return heldBy(owner, head, generation);
    }

    /** As {@link #mine}, for any participant. */
    long heldBy(int participant, int head, int generation) {
        long entry = table.get(head);
        return PageEntry.isHeadOf(entry, participant) && PageEntry.generation(entry) == generation ? entry : 0;
    }

    /** Makes Refs into the run with HEAD {@code entry} stale. Returns the new entry, or 0 if the entry has changed. */
    long renew(int head, long entry) {
        return exchange(head, entry, PageEntry.renewed(entry));
    }

    /** As {@link #renew}, and makes the run IDLE. */
    long retire(int head, long entry) {
        return exchange(head, entry, PageEntry.idle(PageEntry.renewed(entry)));
    }

    private long exchange(int head, long entry, long next) {
        return table.compareAndSet(head, entry, next) ? next : 0;
    }

    /** Puts a run that was {@link #retire}d back into use. Returns whether this participant still had it. */
    boolean revive(long run, int length) {
        long head = PageRun.head(run, owner, length);
        return table.compareAndSet(PageRun.page(run), PageEntry.idle(head), head);
    }

    /** Whether the entry of {@code run} is unchanged. */
    boolean isUntouched(long run, int length) {
        return table.get(PageRun.page(run)) == PageRun.head(run, owner, length);
    }

    /**
     * Frees the pages of the run with HEAD {@code headEntry}, which must be this participant's and of a generation that
     * no Ref has.
     *
     * @return number of pages freed; less than the run's length if it was claimed or freed only in part
     */
    int release(int head, long headEntry) {
        return release(head, headEntry, pagesHeld(head, headEntry));
    }

    private int release(int head, long headEntry, int pages) {
        long freed = PageEntry.freed(headEntry);
        int epoch = PageEntry.epoch(headEntry);
        for (int i = pages - 1; i > 0; i--) {
            // Free only this run's tail. If this process was declared dead, the page may belong to another run by now.
            table.compareAndSet(head + i, PageEntry.tail(epoch, i), freed);
        }
        table.compareAndSet(head, headEntry, freed);
        taken.unmark(head, pages);
        return pages;
    }

    private int pagesHeld(int head, long headEntry) {
        int length = lengthAt(head, headEntry);
        int held = 1;
        while (held < length && table.get(head + held) == PageEntry.tail(PageEntry.epoch(headEntry), held)) {
            held++;
        }
        return held;
    }

    // ---- other participants

    /** Takes over a run in one step, if its HEAD still is {@code entry}. */
    boolean takeOver(int head, long entry) {
        return entry != 0 && table.compareAndSet(head, entry, PageEntry.owned(entry, owner));
    }

    /** Whether a run of {@code participant}, in use or not, begins at this page. */
    boolean isHeadOf(int page, int participant) {
        return PageEntry.belongsTo(table.get(page), participant);
    }

    /** Frees the run at {@code head} if {@code dead} owns it. Returns how many pages it had, or 0. */
    int reclaim(int head, int dead) {
        long entry = table.get(head);
        return PageEntry.belongsTo(entry, dead) ? take(head, entry) : 0;
    }

    private int take(int head, long entry) {
        long mine = PageEntry.owned(PageEntry.renewed(entry), owner);
        return table.compareAndSet(head, entry, mine) ? release(head, mine) : 0;
    }

    /**
     * Frees all idle runs and corrects hints that hide free pages.
     *
     * @return whether any run is just being claimed or freed
     */
    boolean sweep(int pages) {
        boolean moving = false;
        int page = 0;
        while (page < pages) {
            long entry = table.get(page);
            switch (PageEntry.state(entry)) {
                case PageEntry.FREE -> taken.unmarkFree(page++);
                case PageEntry.IDLE -> page += Math.max(1, take(page, entry));
                case PageEntry.HEAD -> {
                    int last = lengthAt(page, entry) - 1;
                    boolean whole = last == 0 || table.get(page + last) == PageEntry.tail(PageEntry.epoch(entry), last);
                    moving |= !whole;
                    page += whole ? last + 1 : 1;
                }
                default -> page++;
            }
        }
        return moving;
    }

    /** Corrects the hint for one page if it is free. */
    void unhide(int page) {
        if (PageEntry.isFree(table.get(page))) {
            taken.unmarkFree(page);
        }
    }

    // ---- looking

    /** See {@link TakenMap#find}. */
    int find(int from, int to, int length) {
        return taken.find(from, to, length);
    }

    /** The head of the run in use that {@code page} belongs to, or {@link #NONE}. */
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
        return PageEntry.state(headEntry) == PageEntry.HEAD
                        && PageEntry.epoch(headEntry) == PageEntry.epoch(entry)
                        && page - head < PageEntry.length(headEntry)
                ? head
                : NONE;
    }

    int generation(int head) {
        return PageEntry.generation(table.get(head));
    }

    int length(int head) {
        return lengthAt(head, table.get(head));
    }

    /** Length of a run, limited to the table whatever the entry says. */
    int lengthAt(int head, long entry) {
        return Math.clamp(PageEntry.length(entry), 1, table.pages() - head);
    }

    /** How many of the first {@code pages} are free or idle. */
    int unusedPages(int pages) {
        int unused = 0;
        int page = 0;
        while (page < pages) {
            long entry = table.get(page);
            int state = PageEntry.state(entry);
            int length = state == PageEntry.IDLE ? lengthAt(page, entry) : 1;
            unused += state == PageEntry.FREE || state == PageEntry.IDLE ? length : 0;
            page += length;
        }
        return unused;
    }
}
