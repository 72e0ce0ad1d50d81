package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageAllocator;
import dev.rackcall.shm.alloc.PageEntry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * One byte for each page behind the arena's header: the page's generation. It serves peers that follow Refs into the
 * arena but cannot see the page table, which is in the heap of the one allocating process. That process writes a byte
 * whenever it hands out a run or makes its Refs stale. It never reads the bytes, so a peer that overwrites them only
 * deceives itself. For its own lookups it keeps the same bytes in its heap: two loads, where the page table takes a
 * search for the run's head.
 *
 * <p>Accesses are plain. The owner writes the byte and then publishes a Ref with a release store. The receiver acquires
 * the Ref, so it sees this byte or a later one. Following a Ref while its scope is being closed is a race in the
 * caller's own program.
 */
final class Generations implements PageAllocator.Observer {
    /** Starts on its own cache line, apart from the header, which rarely changes. */
    private static final long TABLE = 64;

    /** Up to this many bytes a loop is faster than a bulk fill. */
    private static final int SMALL = 64;

    private static final int CHUNK_SHIFT = 10;
    private static final int CHUNK = 1 << CHUNK_SHIFT;

    /**
     * For pages that are not in use. All others have their generation plus one; the last generation is never in use.
     */
    private static final byte NOT_IN_USE = 0;

    private final MemorySegment arena;
    private final long firstPage;
    /** The bytes of this process's own pages, in chunks that are created as the arena grows. */
    private final byte[][] own;

    /**
     * @param firstPage offset of the page table's first page in the arena
     * @param ownPages how many pages this process allocates; 0 if a peer does
     */
    Generations(MemorySegment arena, long firstPage, int ownPages) {
        this.arena = arena;
        this.firstPage = firstPage;
        this.own = new byte[(ownPages + CHUNK - 1) >>> CHUNK_SHIFT][];
    }

    /** Offset of the byte for the page at {@code offset}. */
    static long at(long offset) {
        return TABLE + (offset >>> ArenaLayout.PAGE_SHIFT);
    }

    /** The generation that the owner wrote for the page at {@code offset}. */
    int of(long offset) {
        return Byte.toUnsignedInt(arena.get(ValueLayout.JAVA_BYTE, at(offset)));
    }

    /** Whether {@code page} is one of this process's pages, in use, and of that generation. */
    boolean isOwn(int page, int generation) {
        byte[] chunk = own[page >>> CHUNK_SHIFT];
        return chunk != null
                && chunk[page & (CHUNK - 1)] == (byte) (generation + 1)
                && generation != PageEntry.LAST_GENERATION;
    }

    /** Each run's bytes are written by one thread at a time, and no chunk is ever replaced. */
    private void note(int page, int pages, byte generation) {
        for (int from = page; from < page + pages; ) {
            int end = Math.min(page + pages, (from | (CHUNK - 1)) + 1);
            int first = from & (CHUNK - 1);
            Arrays.fill(chunk(from >>> CHUNK_SHIFT), first, first + (end - from), generation);
            from = end;
        }
    }

    private byte[] chunk(int index) {
        byte[] chunk = own[index];
        return chunk != null ? chunk : makeChunk(index);
    }

    private synchronized byte[] makeChunk(int index) {
        if (own[index] == null) {
            // A thread that finds the chunk too early sees pages that are not in use.
            own[index] = new byte[CHUNK];
        }
        return own[index];
    }

    @Override
    public void used(int page, int pages, int generation) {
        note(page, pages, (byte) (generation + 1));
        publish(page, pages, (byte) generation);
    }

    @Override
    public void freed(int page, int pages, int generation) {
        note(page, pages, NOT_IN_USE);
        publish(page, pages, (byte) generation);
    }

    private void publish(int page, int pages, byte value) {
        long from = at(firstPage) + page;
        if (pages > SMALL) {
            arena.asSlice(from, pages).fill(value);
            return;
        }
        for (long at = from; at < from + pages; at++) {
            // Most runs keep the generation with which they were freed. Not storing it again keeps the line in the
            // peer's cache.
            if (arena.get(ValueLayout.JAVA_BYTE, at) != value) {
                arena.set(ValueLayout.JAVA_BYTE, at, value);
            }
        }
    }
}
