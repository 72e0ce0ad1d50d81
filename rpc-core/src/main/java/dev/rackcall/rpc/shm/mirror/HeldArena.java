package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.file.Unmapping;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a client holds of an arena that others write: its pages at the same offsets, as far as somebody has followed a Ref to them. Of each page it is known of which generation it is, and
 * when it was asked for. Thread-safe.
 */
final class HeldArena {
    private static final int PAGE = (int) ControlLayout.PAGE;
    private static final int OBJECT_HEADER = 8;
    /** Where an object's header has its length. */
    private static final int LENGTH = 4;
    /** Pages that are asked for at once at most. */
    private static final int MOST_PAGES = ServerMirror.MOST_BYTES / PAGE;

    private static final int TAGS = 4096;
    // In a tag, from the lowest bits on: generation, words of the page that have come, when it was asked for.
    private static final int GENERATION_BITS = 8;
    private static final int WORDS_BITS = 10;
    private static final int EPOCH_SHIFT = GENERATION_BITS + WORDS_BITS;
    /** As many as the offset of a Ref reaches. */
    private static final long MAX_BYTES = 1L << 40;

    /** Asks the home. */
    @FunctionalInterface
    interface Asking {
        /**
         * What lies there.
         *
         * @throws RefException if there is nothing that may be read
         */
        Answer ask(long ref, int bytes);
    }

    /** @param arenaBytes that the arena may have */
    record Answer(long arenaBytes, MemorySegment pages) {}

    private final int id;
    private final Asking home;
    private final AtomicLong epochs;
    private final ReentrantLock fetching = new ReentrantLock();

    /** Of each page when it was asked for, how much of it has come, and its generation; 0: it is not there. In pieces, most of which are never made. Set once the memory is. */
    private AtomicReferenceArray<AtomicLongArray> tags;

    private SharedFile file;
    /** Set last. */
    private volatile Mapping mapping;

    private final RefSpace.Window window = new RefSpace.Window();

    /** What was asked for before may not be so any more. */
    private volatile long stale;

    /** Nothing more is asked for: the file may be closed. */
    private volatile boolean hasLeft;
    /** Nor read: the memory may go, too. */
    private volatile boolean isOver;

    // Of the reader's way; a guess, so that races do not matter.
    private int nextPage = -1;
    private int ahead;

    /** @param epochs what is asked for is tagged with */
    HeldArena(int id, Asking home, AtomicLong epochs) {
        this.id = id;
        this.home = home;
        this.epochs = epochs;
    }

    /** From now on everything is asked for anew. */
    void isStale() {
        stale = epochs.incrementAndGet();
    }

    /**
     * Has the whole object there that a Ref leads to.
     *
     * @param since what was asked for earlier does not count
     * @return null if it is not there, and the arena's writer has left
     * @throws RefException if it leads nowhere, or its scope was closed
     */
    RefSpace.Window window(long ref, long since) {
        long offset = Ref.offset(ref);
        if (offset < PAGE || offset % OBJECT_HEADER != 0) {
            throw new RefException(Ref.describe(ref) + " cannot be followed: no object lies there");
        }
        int generation = Ref.generation(ref);
        if (!need(offset, OBJECT_HEADER, generation, since)) {
            return null;
        }
        MemorySegment memory = mapping.memory();
        // Whether it makes sense is judged by whoever reads the object.
        long length = Integer.toUnsignedLong(memory.get(ValueLayout.JAVA_INT, offset + LENGTH));
        return need(offset, Math.min(length, memory.byteSize() - offset), generation, since) ? window : null;
    }

    /** False if some of it is not there, and will not be. */
    private boolean need(long offset, long length, int generation, long since) {
        long last = offset + Math.max(length, 1);
        int end = (int) ((last - 1) / PAGE) + 1;
        for (int page = (int) (offset / PAGE); page < end; page++) {
            int bytes = (int) Math.min(last - (long) page * PAGE, PAGE);
            if (!isPresent(page, bytes, generation, since) && !fetch(page, end, bytes, generation, since)) {
                return false;
            }
        }
        return true;
    }

    /** Whether the page's first bytes are there: its run may have ended behind them when it was asked for. */
    private boolean isPresent(int page, int bytes, int generation, long since) {
        Mapping present = mapping;
        if (present == null || page >= present.memory().byteSize() / PAGE) {
            return false;
        }
        AtomicLongArray piece = tags.get(page / TAGS);
        // Acquire: pairs with the release after the page was written.
        long tag = piece == null ? 0 : piece.getAcquire(page % TAGS);
        return tag != 0
                && (int) (tag & (1 << GENERATION_BITS) - 1) == generation
                && (tag >>> GENERATION_BITS & (1 << WORDS_BITS) - 1) * Long.BYTES >= bytes
                && tag >>> EPOCH_SHIFT >= Math.max(since, stale);
    }

    /** Asks for the missing pages from {@code first} to {@code wanted}, and for as many more as it seems that will be read. As many of them as one answer holds are there then; false: none, for good. */
    private boolean fetch(int first, int wanted, int bytes, int generation, long since) {
        fetching.lock();
        try {
            return isPresent(first, bytes, generation, since) || askFor(first, wanted, bytes, generation);
        } finally {
            fetching.unlock();
            giveUp();
        }
    }

    private boolean askFor(int first, int wanted, int bytes, int generation) {
        if (hasLeft) {
            return false;
        }
        ahead = first == nextPage ? Math.clamp(2L * ahead, 1, MOST_PAGES) : 0;
        int pages = (int) Math.min((long) wanted - first + ahead, MOST_PAGES);
        // Before it is asked for: what is said to be stale meanwhile is.
        long now = epochs.get();
        long offset = (long) first * PAGE;
        long ref = Ref.of(id, generation, offset);
        Answer answer = home.ask(ref, pages * PAGE);
        if (hasLeft || (mapping != null && mapping.memory().byteSize() != answer.arenaBytes)) {
            return false;
        }
        check(answer, offset, pages);
        store(answer, offset);
        long come = answer.pages.byteSize();
        for (int page = first; come > 0; page++, come -= PAGE) {
            long words = Math.min(come, PAGE) / Long.BYTES;
            piece(page).setRelease(page % TAGS, now << EPOCH_SHIFT | words << GENERATION_BITS | generation);
            nextPage = page + 1;
        }
        if (answer.pages.byteSize() < bytes) {
            throw new RefException(Ref.describe(ref + bytes)
                    + " cannot be read: its node has passed nothing that reaches so far; is the object whole?");
        }
        return true;
    }

    private void check(Answer answer, long offset, int pages) {
        long bytes = answer.arenaBytes;
        boolean fits = bytes % PAGE == 0
                && bytes > offset
                && bytes <= MAX_BYTES
                && answer.pages.byteSize() > 0
                && answer.pages.byteSize() <= Math.min((long) pages * PAGE, bytes - offset);
        if (!fits) {
            throw Status.Code.INTERNAL
                    .with(
                            "the server has answered with %d bytes at offset %d of an arena of %d, instead of %d pages at most; both sides"
                                    + " must use the same release of Rackcall",
                            answer.pages.byteSize(), offset, answer.arenaBytes, pages)
                    .asException();
        }
    }

    private void store(Answer answer, long offset) {
        try {
            if (mapping == null) {
                open(answer.arenaBytes);
            }
            file.reserve(offset, (answer.pages.byteSize() + PAGE - 1L) & -PAGE);
        } catch (OsException | OutOfArenaException e) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with("no memory for what was fetched of other nodes: %s", e.getMessage())
                    .asException(e);
        }
        MemorySegment.copy(answer.pages, 0, mapping.memory(), offset, answer.pages.byteSize());
    }

    private void open(long bytes) {
        SharedFile made = SharedFile.memfd("rackcall-held", bytes);
        Mapping mapped;
        try {
            mapped = made.map();
        } catch (RuntimeException | Error e) {
            made.close();
            throw e;
        }
        file = made;
        window.set(mapped.memory(), 0, bytes);
        tags = new AtomicReferenceArray<>((int) Math.ceilDiv(bytes, (long) TAGS * PAGE));
        mapping = mapped;
    }

    private AtomicLongArray piece(int page) {
        AtomicLongArray piece = tags.get(page / TAGS);
        if (piece == null) {
            piece = new AtomicLongArray(TAGS);
            tags.set(page / TAGS, piece);
        }
        return piece;
    }

    boolean isIn(MemorySegment.Scope mapped) {
        Mapping present = mapping;
        return present != null && present.memory().scope().equals(mapped);
    }

    // ---- the end

    /** Nothing more is asked for here. What is there stays, for whoever stands on it, without a descriptor. Does not wait. */
    void writerHasLeft() {
        hasLeft = true;
        giveUp();
    }

    /** As {@link #close}, of one whose writer has left; does not wait. Returns false if somebody keeps the memory just now: to be tried again. */
    boolean unmap() {
        isOver = true;
        giveUp();
        Mapping present = mapping;
        return present == null || !present.memory().scope().isAlive();
    }

    /** What is no longer wanted goes as soon as nobody asks: he who keeps the lock from being taken looks here after it. */
    private void giveUp() {
        boolean over = false;
        do {
            if (!hasLeft || !fetching.tryLock()) {
                return;
            }
            try {
                over = isOver;
                if (mapping != null) {
                    file.close();
                }
                if (mapping != null && over) {
                    mapping.close();
                }
            } catch (IllegalStateException e) {
                // Somebody has handed it to the kernel, to write it to a file or a socket: it stays until he is done.
                assert mapping.memory().scope().isAlive();
            } finally {
                fetching.unlock();
            }
            // Whoever has said that it is over meanwhile could not take the lock.
        } while (over != isOver);
    }

    /** Unmaps it; nobody follows Refs here any more. */
    void close() {
        fetching.lock();
        try {
            if (mapping != null) {
                Unmapping.of(List.of(mapping), file::close);
            }
        } finally {
            fetching.unlock();
        }
    }
}
