package dev.rackcall.sandbox;

import dev.rackcall.shm.os.OsException;

/**
 * Pages of one kept seal that were opened for stores while the rest of its scope stays closed: so few that closing them again before the next call costs less than
 * opening and closing the whole scope, and less than a copy of it. Guarded by the lock of the seal's owner; allocates nothing.
 */
final class OpenedPages {
    private static final int MOST = 4;
    /** A page costs about as much as a copy of so many: two system calls and a page fault. */
    private static final int SMALL_PAGES_FOR_EACH = 64;

    private static final int HUGE_PAGES_FOR_EACH = 2;
    private static final long SMALL_PAGE = 4096;
    /** Each store asks as long as the scope is not open as a whole, and takes a lock for it. */
    private static final int MOST_QUESTIONS = 64;

    private final long[] pages = new long[MOST];
    private int count;
    private int questions;

    /**
     * Opens the pages on which an object lies, unless they are open.
     *
     * @param bytes of the object, as shared memory has it, where others may have written anything: only pages of the seal are opened, since these are closed again
     * @return false if that is not possible, or would cost more than it saves: open the whole scope then
     */
    boolean open(SealAuthority authority, long seal, long offset, long bytes) {
        long pageBytes = authority.pageBytes();
        if (pageBytes == 0 || bytes <= 0 || ++questions > MOST_QUESTIONS) {
            return false;
        }
        long most = Math.min(
                MOST, authority.pagesOf(seal) / (pageBytes == SMALL_PAGE ? SMALL_PAGES_FOR_EACH : HUGE_PAGES_FOR_EACH));
        long first = offset / pageBytes;
        long last = (offset + bytes - 1) / pageBytes;
        if (last - first >= most) {
            return false;
        }
        for (long page = first; page <= last; page++) {
            if (!isOpen(page)
                    && !(authority.holds(SealRingLayout.index(seal), page * pageBytes)
                            && open(authority, page, most))) {
                return false;
            }
        }
        return true;
    }

    private boolean isOpen(long page) {
        for (int i = 0; i < count; i++) {
            if (pages[i] == page) {
                return true;
            }
        }
        return false;
    }

    private boolean open(SealAuthority authority, long page, long most) {
        if (count >= most) {
            return false;
        }
        try {
            authority.openPage(page);
        } catch (OsException e) {
            // Whoever opens the whole scope hears of it, too, if it lasts.
            return false;
        }
        pages[count++] = page;
        return true;
    }

    /** Before the seal serves the next call. Returns false if not all could be closed: open the whole scope then. */
    boolean closeAgain(SealAuthority authority) {
        try {
            for (int i = 0; i < count; i++) {
                authority.closePage(pages[i]);
            }
            return true;
        } catch (OsException e) {
            return false;
        } finally {
            forget();
        }
    }

    /** The whole scope is open, or closed. */
    void forget() {
        count = 0;
        questions = 0;
    }
}
