package dev.rackcall.shm.alloc;

/**
 * One entry of an arena's page table: which participant owns the page.
 *
 * <pre>
 *  63 62 61        50 49              32 31        24 23                      0
 * +-----+------------+------------------+------------+------------------------+
 * |state|   owner    |      epoch       | generation |  length  or  distance  |
 * +-----+------------+------------------+------------+------------------------+
 * </pre>
 *
 * <ul>
 *   <li>FREE: has no owner. Epoch and generation are above those of the last run that held the page.
 *   <li>HEAD: the first page of a run of {@code length} pages of participant {@code owner}. Refs into the run carry its
 *       generation.
 *   <li>TAIL: a further page, {@code distance} pages behind its head. Owner and generation are 0.
 *   <li>IDLE: a HEAD whose run its owner has freed and caches. Other participants may take it.
 * </ul>
 *
 * <p>The epoch stays the same from a run's claim to its end. It tells which of several runs with the same head a TAIL
 * belongs to. The generation also rises when the run's Refs are made stale; the run ends with the last generation. No
 * two uses of a page therefore have the same epoch and generation until the epoch wraps around. A successful
 * compare-and-set from an entry read earlier proves that the page was not reused in between.
 */
public final class PageEntry {
    public static final int FREE = 0;
    public static final int HEAD = 1;
    public static final int TAIL = 2;
    public static final int IDLE = 3;
    public static final int MAX_OWNER = 0xfff;
    public static final int MAX_LENGTH = 0xffffff;
    /** The generation of a run that is being freed; no Ref has it. */
    public static final int LAST_GENERATION = 0xff;

    private static final int STATE_SHIFT = 62;
    private static final int OWNER_SHIFT = 50;
    private static final int EPOCH_SHIFT = 32;
    private static final int EPOCH_BITS = 18;
    private static final int EPOCH_MASK = (1 << EPOCH_BITS) - 1;
    private static final int GENERATION_SHIFT = 24;
    private static final int GENERATION_MASK = 0xff;

    private PageEntry() {}

    public static long free(int epoch, int generation) {
        return pack(FREE, 0, epoch, generation, 0);
    }

    public static long head(int owner, int epoch, int generation, int length) {
        return pack(HEAD, owner, epoch, generation, length);
    }

    public static long tail(int epoch, int distance) {
        return pack(TAIL, 0, epoch, 0, distance);
    }

    private static long pack(int state, int owner, int epoch, int generation, int length) {
        return ((long) state << STATE_SHIFT)
                | ((long) owner << OWNER_SHIFT)
                | ((long) (epoch & EPOCH_MASK) << EPOCH_SHIFT)
                | ((long) (generation & GENERATION_MASK) << GENERATION_SHIFT)
                | length;
    }

    // ---- what becomes of a HEAD

    /** The same run in its next generation, which no Ref has yet. */
    public static long renewed(long head) {
        return head(owner(head), epoch(head), Math.min(generation(head) + 1, LAST_GENERATION), length(head));
    }

    /**
     * Whether the run has used its last generation. Its pages must be freed before they are used again; freeing raises
     * the epoch.
     */
    public static boolean isLastUse(long head) {
        return generation(head) + 1 >= LAST_GENERATION;
    }

    /** The same run, in use by another owner. */
    public static long owned(long head, int owner) {
        return head(owner, epoch(head), generation(head), length(head));
    }

    /** The same run, cached; every participant may take it. */
    public static long idle(long head) {
        return head | (long) IDLE << STATE_SHIFT;
    }

    /**
     * The entry of each page of the run {@code head} after it is freed. No Ref may have the generation in {@code head}.
     */
    public static long freed(long head) {
        return free(epoch(head) + 1, generation(head));
    }

    // ---- reading

    public static int state(long entry) {
        return (int) (entry >>> STATE_SHIFT);
    }

    public static int owner(long entry) {
        return (int) (entry >>> OWNER_SHIFT) & MAX_OWNER;
    }

    public static int epoch(long entry) {
        return (int) (entry >>> EPOCH_SHIFT) & EPOCH_MASK;
    }

    /** By how much the epoch of one entry is ahead of another's, modulo 2^18; negative if it is behind. */
    public static int epochLead(long entry, long other) {
        int unused = Integer.SIZE - EPOCH_BITS;
        return (epoch(entry) - epoch(other)) << unused >> unused;
    }

    public static int generation(long entry) {
        return (int) (entry >>> GENERATION_SHIFT) & GENERATION_MASK;
    }

    /** Length of a HEAD, distance of a TAIL. */
    public static int length(long entry) {
        return (int) entry & MAX_LENGTH;
    }

    public static boolean isFree(long entry) {
        return state(entry) == FREE;
    }

    public static boolean isHeadOf(long entry, int owner) {
        return state(entry) == HEAD && owner(entry) == owner;
    }

    /** Whether {@code owner} has the run, in use or idle. */
    public static boolean belongsTo(long entry, int owner) {
        return (state(entry) == HEAD || state(entry) == IDLE) && owner(entry) == owner;
    }
}
