package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.TableHome;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Follows the Refs of an argument that has stayed with its caller: when a Ref is followed, the pages of the object that it leads to are fetched, if they are not there yet. Whoever
 * reads on from page to page is read ahead for. Thread-safe.
 *
 * <p>Refs are where every access begins: a flyweight follows one before it reads, and reads no further than its object reaches. So there is no page fault that somebody would have to
 * serve, and what cannot be fetched is an exception in the handler.
 */
final class FetchedSpace extends RefSpace {
    private static final int PAGE = 4096;
    private static final int OBJECT_HEADER = 8;
    /** Where an object's header has its length. */
    private static final int LENGTH = 4;
    /** Pages that are read ahead at most. */
    private static final int MOST_AHEAD = 16;

    private final FetchedArena arena;
    private final RefSpace others;
    private final long deadline;
    /** A bit for each page that is there. Set with release after the page has come, which pairs with the look before it is read. */
    private final AtomicLongArray present;

    /** The object of several pages that was asked for last, all of which are there: it may be asked for with each of its elements. */
    private volatile Extent last = new Extent(0, 0);

    // Of the reader's way; a guess, so that races do not matter.
    private int nextPage = -1;
    private int ahead;

    private record Extent(long offset, long length) {}

    FetchedSpace(FetchedArena arena, RefSpace others, long deadline) {
        this.arena = arena;
        this.others = others;
        this.deadline = deadline;
        this.present = new AtomicLongArray((int) (arena.bytes() / PAGE / Long.SIZE) + 1);
    }

    @Override
    public Window window(long ref) {
        if (Ref.arenaId(ref) != arena.id()) {
            return others.window(ref);
        }
        long offset = Ref.offset(ref);
        if (offset < Arena.pagesAt(TableHome.PRIVATE, arena.bytes())
                || offset > arena.bytes() - OBJECT_HEADER
                || offset % OBJECT_HEADER != 0) {
            throw new RefException(Ref.describe(ref) + " cannot be followed: it leads outside the " + arena.bytes()
                    + " bytes that its arena may have");
        }
        String complaint = arena.staleness(ref, deadline);
        if (complaint != null) {
            throw new RefException(Ref.describe(ref) + " cannot be followed: " + complaint);
        }
        need(offset, OBJECT_HEADER);
        // Whether it makes sense is judged by whoever reads the object.
        long length = Integer.toUnsignedLong(arena.memory().get(ValueLayout.JAVA_INT, offset + LENGTH));
        needObject(offset, Math.min(length, arena.bytes() - offset));
        return arena.window();
    }

    private void needObject(long offset, long length) {
        if (length <= PAGE) {
            need(offset, length);
            return;
        }
        Extent known = last;
        if (known.offset != offset || known.length < length) {
            need(offset, length);
            last = new Extent(offset, length);
        }
    }

    private void need(long offset, long length) {
        int end = (int) ((offset + Math.max(length, 1) - 1) / PAGE) + 1;
        int page = (int) (offset / PAGE);
        while (page < end) {
            page = isPresent(page) ? page + 1 : fetch(page, end);
        }
    }

    private boolean isPresent(int page) {
        return (present.getAcquire(page / Long.SIZE) >>> page & 1) != 0;
    }

    /** Fetches the missing pages from {@code first} to {@code wanted}, and as many more as it seems that will be read; returns the page behind them. */
    private int fetch(int first, int wanted) {
        ahead = first == nextPage ? Math.clamp(2L * ahead, 1, MOST_AHEAD) : 0;
        int end = (int) Math.min((long) wanted + ahead, arena.bytes() / PAGE);
        int behind = first + 1;
        while (behind < end && !isPresent(behind)) {
            behind++;
        }
        arena.fetch((long) first * PAGE, (long) (behind - first) * PAGE, deadline);
        for (int page = first; page < behind; page++) {
            long bit = 1L << page;
            present.getAndUpdate(page / Long.SIZE, bits -> bits | bit);
        }
        nextPage = behind;
        return behind;
    }
}
