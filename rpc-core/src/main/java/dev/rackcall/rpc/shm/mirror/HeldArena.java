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
 * A client's copy of an arena that other processes write: the pages to which Refs were followed, at the same offsets.
 * Each page is tagged with its generation and the time of its request. Thread-safe.
 */
final class HeldArena {
    private static final int PAGE = (int) ControlLayout.PAGE;
    private static final int OBJECT_HEADER = 8;
    /** Where an object's header has its length. */
    private static final int LENGTH = 4;
    /** Maximum number of pages per request. */
    private static final int MOST_PAGES = ServerMirror.MOST_BYTES / PAGE;

    private static final int TAGS = 4096;
    // A tag, from its lowest bits: generation, words of the page that have arrived, epoch of the request.
    private static final int GENERATION_BITS = 8;
    private static final int WORDS_BITS = 10;
    private static final int EPOCH_SHIFT = GENERATION_BITS + WORDS_BITS;
    /** The reach of a Ref's offset. */
    private static final long MAX_BYTES = 1L << 40;

    /** Requests pages from the home. */
    @FunctionalInterface
    interface Asking {
        /**
         * The bytes at a Ref.
         *
         * @throws RefException if nothing there may be read
         */
        Answer ask(long ref, int bytes);
    }

    /** @param arenaBytes size of the arena */
    record Answer(long arenaBytes, MemorySegment pages) {}

    private final int id;
    private final Asking home;
    private final AtomicLong epochs;
    private final ReentrantLock fetching = new ReentrantLock();

    /**
     * Each page's tag; 0: the page is missing. Split into chunks that are allocated on demand. Assigned together with
     * the file, before {@link #mapping}.
     */
    private AtomicReferenceArray<AtomicLongArray> tags;

    private SharedFile file;
    /** Assigned after the fields above. */
    private volatile Mapping mapping;

    private final RefSpace.Window window = new RefSpace.Window();

    /** Pages requested before this epoch may be stale. */
    private volatile long stale;

    /** No more pages are requested, so the file may be closed. */
    private volatile boolean hasLeft;
    /** No more pages are read either, so the memory may be unmapped. */
    private volatile boolean isOver;

    // Only guesses at the reader's direction, so races are harmless.
    private int nextPage = -1;
    private int ahead;

    /** @param epochs counter from which each request takes its epoch */
    HeldArena(int id, Asking home, AtomicLong epochs) {
        this.id = id;
        this.home = home;
        this.epochs = epochs;
    }

    /** Makes later reads request all pages again. */
    void isStale() {
        stale = epochs.incrementAndGet();
    }

    /**
     * Ensures that the whole object at a Ref is present.
     *
     * @param since epoch; pages requested before it are requested again
     * @return null if the object is incomplete and the arena's writer has left
     * @throws RefException if the Ref leads nowhere, or its scope was closed
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
        // The reader of the object checks whether its length makes sense.
        long length = Integer.toUnsignedLong(memory.get(ValueLayout.JAVA_INT, offset + LENGTH));
        return need(offset, Math.min(length, memory.byteSize() - offset), generation, since) ? window : null;
    }

    /** Returns false if some of the bytes can no longer be fetched. */
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

    /**
     * Whether the page's first {@code bytes} bytes are present. A page is incomplete if its run ended inside it when it
     * was requested.
     */
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

    /**
     * Requests the missing pages from {@code first} to {@code wanted}, and some ahead. One answer may not hold all of
     * them. Returns false if no page can be fetched any more.
     */
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
        // Read before the request: an invalidation during the request then applies to its answer.
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
        // A store would change this copy only.
        window.set(mapped.memory().asReadOnly(), 0, bytes);
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

    /** Stops requesting. Pages stay readable without a descriptor. Does not wait. */
    void writerHasLeft() {
        hasLeft = true;
        giveUp();
    }

    /**
     * As {@link #close}, once the writer has left; does not wait. Returns false if a thread uses the memory, in which
     * case the caller has to retry.
     */
    boolean unmap() {
        isOver = true;
        giveUp();
        Mapping present = mapping;
        return present == null || !present.memory().scope().isAlive();
    }

    /**
     * Frees what is no longer needed, unless a request is in flight. The requesting thread calls this after releasing
     * the lock.
     */
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
                // A user has handed the memory to the kernel, for a file or a socket: it stays until that is done.
                assert mapping.memory().scope().isAlive();
            } finally {
                fetching.unlock();
            }
            // A thread that set `isOver` meanwhile could not take the lock, so check again.
        } while (over != isOver);
    }

    /** Unmaps the copy once no thread follows Refs into it. */
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
