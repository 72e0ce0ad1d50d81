package dev.rackcall.shm.alloc;

/**
 * One entry of an arena's page table: who has the page.
 *
 * <pre>
 *  63 62 61        50 49              32 31        24 23                      0
 * +-----+------------+------------------+------------+------------------------+
 * |state|   owner    |      epoch       | generation |  length  or  distance  |
 * +-----+------------+------------------+------------+------------------------+
 * </pre>
 *
 * FREE: nobody's; epoch and generation are above those of the last run that held the page. HEAD: first page of a run of {@code length} pages
 * of participant {@code owner}; Refs into the run carry its generation. TAIL: a further page, {@code distance} pages behind its head; owner
 * and generation are 0. IDLE: a HEAD whose run its owner has freed and keeps for its next allocation, unless somebody else takes it first.
 *
 * <p>The epoch is the run's from its claim to its end, so that it says which of the runs with the same head a TAIL belongs to. The generation
 * also rises when the run's Refs are made stale, up to the last one, with which the run ends. So no two uses of a page have the same epoch and generation until
 * the epoch has wrapped around, and whoever compares and sets an entry that he has seen before knows that nothing happened in between.
 */
public final class PageEntry {
    public static final int FREE = 0;
    public static final int HEAD = 1;
    public static final int TAIL = 2;
    public static final int IDLE = 3;
    public static final int MAX_OWNER = 0xfff;
    public static final int MAX_LENGTH = 0xffffff;
    /** The generation of a run that is on its way out: no Ref has it. */
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

    /** Of a generation that no Ref has yet. */
    public static long renewed(long head) {
        return head(owner(head), epoch(head), Math.min(generation(head) + 1, LAST_GENERATION), length(head));
    }

    /** Whether one more run of these pages, of the next generation, would be one too many: they must be freed first, which raises their epoch. */
    public static boolean isLastUse(long head) {
        return generation(head) + 1 >= LAST_GENERATION;
    }

    /** The same run in other hands, and in use. */
    public static long owned(long head, int owner) {
        return head(owner, epoch(head), generation(head), length(head));
    }

    /** The same run, which anybody may take. */
    public static long idle(long head) {
        return head | (long) IDLE << STATE_SHIFT;
    }

    /** What each of its pages becomes. Its generation must be one that no Ref has. */
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

    /** By how much the epoch of one entry is ahead of another's, on the circle that epochs are on; negative: behind. */
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

    /** Whether {@code owner} has the run, in use or not. */
    public static boolean belongsTo(long entry, int owner) {
        return (state(entry) == HEAD || state(entry) == IDLE) && owner(entry) == owner;
    }
}
