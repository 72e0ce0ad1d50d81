package dev.rackcall.shm.alloc;

/**
 * What one participant may do with runs of pages, in steps of one compare-and-set each in a {@link PageTable}, so that a process which is
 * killed in between leaves only pages behind that a head with its number leads to; {@link #reclaim} frees them.
 *
 * <p>What makes that safe for any number of processes:
 *
 * <ul>
 *   <li>Only the participant that a HEAD names touches the run's tails. Whoever wants a run, to free it, to adopt it, to reclaim it from the
 *       dead or to take it from somebody who has no use for it, first changes its head in one step, which of several can succeed for one only.
 *   <li>That step raises the generation, unless the run stays in use: so a late comer with an old Ref or an old entry fails.
 *   <li>Tails are claimed in ascending and freed in descending order, so those of a half-claimed or half-freed run follow its head without a gap.
 *   <li>Epoch and generation together do not come round: a run whose generations are used up is freed, not kept. So the entry that a step expects was there all the
 *       time since it was read.
 *   <li>All tails have the epoch of their run, and freed pages one above it, which a later run's is not below. So even a participant that
 *       was taken for dead while it lived, and goes on, frees no tail of a later run.
 * </ul>
 *
 * <p>Whatever the entries hold, no method looks outside the table, or at more entries than there are. {@link #claim}, {@link #release},
 * {@link #reclaim} and {@link #sweep} are called under the lock of the {@link PageAllocator}, the others by any thread.
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

    /** The {@link PageRun} of these pages, or what blocks it. */
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
            // A page that somebody used since the first look might be too young: a Ref from that use could pass for one
            // into this run.
            boolean fits = PageEntry.isFree(entry)
                    && PageEntry.epochLead(entry, first) <= epochLead
                    && lead(entry, base) <= lead;
            if (!fits || !table.compareAndSet(head + i, entry, PageEntry.tail(epoch, i))) {
                release(head, claimed, i);
                return blocked(head + i);
            }
        }
        if (table.get(head) != claimed) {
            // Somebody took this process for dead meanwhile, and has freed what was claimed by then; the rest is still
            // there.
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

    /** Or the next, if that is no Ref's. */
    private static int usable(int generation) {
        return (generation & PageEntry.LAST_GENERATION) == PageEntry.LAST_GENERATION ? 0 : generation;
    }

    /** By how much a page's generation is ahead of {@code base}, on a circle of 256. */
    private static int lead(long entry, int base) {
        return (byte) (PageEntry.generation(entry) - base);
    }

    // ---- freeing

    /** The entry of this participant's run of that generation at {@code head}; 0 if it has none there. */
    long mine(int head, int generation) {
        return heldBy(owner, head, generation);
    }

    /** As {@link #mine}, of any participant. */
    long heldBy(int participant, int head, int generation) {
        long entry = table.get(head);
        return PageEntry.isHeadOf(entry, participant) && PageEntry.generation(entry) == generation ? entry : 0;
    }

    /** Makes Refs into the run stale whose HEAD is {@code entry}; 0 if that has changed meanwhile, else what it is now. */
    long renew(int head, long entry) {
        return exchange(head, entry, PageEntry.renewed(entry));
    }

    /** As {@link #renew}, and lets anybody take the run. */
    long retire(int head, long entry) {
        return exchange(head, entry, PageEntry.idle(PageEntry.renewed(entry)));
    }

    private long exchange(int head, long entry, long next) {
        return table.compareAndSet(head, entry, next) ? next : 0;
    }

    /** Whether {@code run} now is in this participant's use again, having been {@link #retire}d. */
    boolean revive(long run, int length) {
        long head = PageRun.head(run, owner, length);
        return table.compareAndSet(PageRun.page(run), PageEntry.idle(head), head);
    }

    /** Whether {@code run} still is what was handed out. */
    boolean isUntouched(long run, int length) {
        return table.get(PageRun.page(run)) == PageRun.head(run, owner, length);
    }

    /**
     * Frees the pages of the run whose HEAD is {@code headEntry}: this participant's, and of a generation that no Ref has.
     *
     * @return how many there were; fewer than its length if it was claimed or freed in part
     */
    int release(int head, long headEntry) {
        return release(head, headEntry, pagesHeld(head, headEntry));
    }

    private int release(int head, long headEntry, int pages) {
        long freed = PageEntry.freed(headEntry);
        int epoch = PageEntry.epoch(headEntry);
        for (int i = pages - 1; i > 0; i--) {
            // Exactly this run's tail, since it may be another's by now if this process was taken for dead.
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

    /** Takes the run whose HEAD still is {@code entry}: one step, before which it is another's and after which it is this participant's. */
    boolean takeOver(int head, long entry) {
        return entry != 0 && table.compareAndSet(head, entry, PageEntry.owned(entry, owner));
    }

    /** Whether a run of {@code participant}, in use or not, begins at this page. */
    boolean isHeadOf(int page, int participant) {
        return PageEntry.belongsTo(table.get(page), participant);
    }

    /** Frees the run at {@code head} if it is {@code dead}'s; returns how many pages it had, 0 if it is not. */
    int reclaim(int head, int dead) {
        long entry = table.get(head);
        return PageEntry.belongsTo(entry, dead) ? take(head, entry) : 0;
    }

    private int take(int head, long entry) {
        long mine = PageEntry.owned(PageEntry.renewed(entry), owner);
        return table.compareAndSet(head, entry, mine) ? release(head, mine) : 0;
    }

    /**
     * Frees all runs that nobody uses, and corrects hints that hide free pages.
     *
     * @return whether there were runs that somebody is just claiming or freeing
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

    /** The head of the run in use that {@code page} belongs to, or {@link #NONE}; whatever the entries hold. */
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

    /** Never beyond the table, whatever the entry says. */
    int lengthAt(int head, long entry) {
        return Math.clamp(PageEntry.length(entry), 1, table.pages() - head);
    }

    /** Pages among the first that nobody uses. */
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
