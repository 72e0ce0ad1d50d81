package dev.rackcall.shm.alloc;

/**
 * Finds pages that are probably free in few steps. Each page has a bit that is set if the page is taken. Each group of
 * 64 pages has a bit that is set if all of them are. The bits are hints, since a process may die before it updates
 * them; the {@link PageTable}'s entry decides.
 *
 * <p>A bit that is wrongly clear costs a search one read of an entry, after which the bit is set. A bit that is wrongly
 * set hides a free page. To avoid that, a participant that sets a bit checks the entry again, and a participant that
 * frees an entry clears the bit afterwards. One of the two sees the other's step. {@link PageRuns#sweep} finds pages
 * that dead processes left hidden.
 */
final class TakenMap {
    private static final int GROUP_SHIFT = 6;
    private static final int GROUP = 1 << GROUP_SHIFT;
    private static final long ALL = -1L;

    private final PageTable table;

    TakenMap(PageTable table) {
        this.table = table;
    }

    // ---- updating

    /** Marks pages that were claimed. */
    void mark(int from, int length) {
        int to = from + length;
        for (int page = from; page < to; page = endOfGroup(page)) {
            int group = page >>> GROUP_SHIFT;
            if (table.markGroup(group, bits(page, Math.min(to, endOfGroup(page)))) == ALL) {
                table.markFull(group);
                if (table.group(group) != ALL) {
                    table.unmarkFull(group);
                }
            }
        }
    }

    /** Unmarks pages that were freed. */
    void unmark(int from, int length) {
        int to = from + length;
        for (int page = from; page < to; page = endOfGroup(page)) {
            int group = page >>> GROUP_SHIFT;
            table.unmarkGroup(group, bits(page, Math.min(to, endOfGroup(page))));
            if (isFull(group)) {
                table.unmarkFull(group);
            }
        }
    }

    /** Sets the bits of those pages that are not free. */
    void markTaken(int from, int length) {
        for (int page = from; page < from + length; page++) {
            if (!PageEntry.isFree(table.get(page))) {
                mark(page, 1);
                if (PageEntry.isFree(table.get(page))) {
                    unmark(page, 1);
                }
            }
        }
    }

    /** Clears the bit of a free page if it is set. */
    void unmarkFree(int page) {
        int group = page >>> GROUP_SHIFT;
        if ((table.group(group) & 1L << page) != 0 || isFull(group)) {
            unmark(page, 1);
        }
    }

    private boolean isFull(int group) {
        return (table.fullGroups(group >>> GROUP_SHIFT) & 1L << group) != 0;
    }

    private static int endOfGroup(int page) {
        return (page | (GROUP - 1)) + 1;
    }

    /** Bits from one page up to another of the same group, or up to the first of the next. */
    private static long bits(int from, int to) {
        return ALL >>> (GROUP - (to - from)) << from;
    }

    // ---- searching

    /**
     * The first of {@code length} consecutive pages within {@code from} and {@code to} that seem free; -1 if there are
     * none.
     */
    int find(int from, int to, int length) {
        int row = 0;
        int group = from >>> GROUP_SHIFT;
        long full = 0;
        boolean fresh = true;
        while (group << GROUP_SHIFT < to) {
            if (fresh || group % GROUP == 0) {
                full = table.fullGroups(group >>> GROUP_SHIFT);
                fresh = false;
            }
            int skipped = Math.min(Long.numberOfTrailingZeros(~full >>> group), GROUP - group % GROUP);
            if (skipped > 0) {
                row = 0;
                group += skipped;
                continue;
            }
            int first = group << GROUP_SHIFT;
            long taken = table.group(group) | outside(first, from, to);
            int free = Long.numberOfTrailingZeros(taken);
            if (row + free >= length) {
                return first - row;
            }
            int inside = firstRow(~taken, length);
            if (inside >= 0) {
                return first + inside;
            }
            row = taken == 0 ? row + GROUP : Long.numberOfLeadingZeros(taken);
            group++;
        }
        return -1;
    }

    /** Bits of the group at {@code first} that do not lie between {@code from} and {@code to}. */
    private static long outside(int first, int from, int to) {
        long before = from > first ? ~(ALL << from) : 0;
        long behind = to - first < GROUP ? ALL << to : 0;
        return before | behind;
    }

    /** The lowest bit from which {@code length} bits are set; -1 if there is none. */
    private static int firstRow(long bits, int length) {
        if (length > GROUP) {
            return -1;
        }
        long rows = bits;
        int have = 1;
        while (have < length && rows != 0) {
            int more = Math.min(have, length - have);
            rows &= rows >>> more;
            have += more;
        }
        return rows == 0 ? -1 : Long.numberOfTrailingZeros(rows);
    }
}
