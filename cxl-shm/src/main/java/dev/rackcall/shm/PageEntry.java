package dev.rackcall.shm;

/**
 * One entry of an arena's page table: who has the page.
 *
 * <pre>
 *  63 62 61        50 49                     24 23                      0
 * +-----+------------+-------------------------+------------------------+
 * |state|   owner    |       generation        |  length  or  distance  |
 * +-----+------------+-------------------------+------------------------+
 * </pre>
 *
 * FREE: only the generation counts, that of the last run that began here. HEAD: first page of a run of {@code length} pages. TAIL: a further page,
 * {@code distance} pages behind its head; its owner and generation mean nothing.
 */
final class PageEntry {
    static final int FREE = 0;
    static final int HEAD = 1;
    static final int TAIL = 2;
    static final int MAX_OWNER = 0xfff;
    static final int MAX_LENGTH = 0xffffff;

    private static final int STATE_SHIFT = 62;
    private static final int OWNER_SHIFT = 50;
    private static final int GENERATION_SHIFT = 24;
    private static final int GENERATION_MASK = (1 << 26) - 1;

    private PageEntry() {}

    static long free(int generation) {
        return pack(FREE, 0, generation, 0);
    }

    static long head(int owner, int generation, int length) {
        return pack(HEAD, owner, generation, length);
    }

    static long tail(int owner, int generation, int distance) {
        return pack(TAIL, owner, generation, distance);
    }

    private static long pack(int state, int owner, int generation, int length) {
        return ((long) state << STATE_SHIFT)
                | ((long) owner << OWNER_SHIFT)
                | ((long) (generation & GENERATION_MASK) << GENERATION_SHIFT)
                | length;
    }

    static int state(long entry) {
        return (int) (entry >>> STATE_SHIFT);
    }

    static int owner(long entry) {
        return (int) (entry >>> OWNER_SHIFT) & MAX_OWNER;
    }

    static int generation(long entry) {
        return (int) (entry >>> GENERATION_SHIFT) & GENERATION_MASK;
    }

    /** Length of a HEAD, distance of a TAIL. */
    static int length(long entry) {
        return (int) entry & MAX_LENGTH;
    }

    static boolean isHeadOf(long entry, int owner) {
        return state(entry) == HEAD && owner(entry) == owner;
    }

    static boolean isTail(long entry, int distance) {
        return state(entry) == TAIL && length(entry) == distance;
    }

    /** The same run in other hands. */
    static long owned(long head, int owner) {
        return head(owner, generation(head), length(head));
    }

    /** The same run in the hands of {@code owner}, and of a generation that no Ref has yet. */
    static long retired(long head, int owner) {
        return head(owner, generation(head) + 1, length(head));
    }
}
