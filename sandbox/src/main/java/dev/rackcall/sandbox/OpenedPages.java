package dev.rackcall.sandbox;

import dev.rackcall.shm.os.OsException;

/**
 * Pages of one kept seal that stores have opened while the rest of the scope stays closed. Their number is limited:
 * closing them before the next call must cost less than opening and closing the whole scope, or copying it. Guarded by
 * the lock of the seal's owner; allocates nothing.
 */
final class OpenedPages {
    private static final int MOST = 4;
    /** Opening one page (two system calls and a page fault) costs as much as copying this many pages. */
    private static final int SMALL_PAGES_FOR_EACH = 64;

    private static final int HUGE_PAGES_FOR_EACH = 2;
    private static final long SMALL_PAGE = 4096;
    /** Maximum number of requests by stores, each under a lock, before the whole scope is opened. */
    private static final int MOST_QUESTIONS = 64;

    private final long[] pages = new long[MOST];
    private int count;
    private int questions;

    /**
     * Opens the closed pages of an object.
     *
     * @param bytes size of the object as read from shared memory, so it may be any value; only pages of the seal are
     * opened
     * @return false if that is impossible or costs more than it saves; then open the whole scope
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
            // If the failure persists, opening the whole scope reports it.
            return false;
        }
        pages[count++] = page;
        return true;
    }

    /** Closes the pages before the next call of the seal. Returns false if this failed; then open the whole scope. */
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

    /** Forgets the pages, because the whole scope is open or closed. */
    void forget() {
        count = 0;
        questions = 0;
    }
}
