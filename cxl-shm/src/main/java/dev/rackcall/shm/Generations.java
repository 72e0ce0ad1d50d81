package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageAllocator;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * One byte for each page behind the arena's header: the page's generation. It serves peers that follow Refs into the
 * arena but cannot see the page table, which is in the heap of the one allocating process. That process writes a byte
 * whenever it hands out a run or makes its Refs stale. It never reads the bytes, so a peer that overwrites them only
 * deceives itself.
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

    private final MemorySegment arena;
    private final long firstPage;

    /** @param firstPage offset of the page table's first page in the arena */
    Generations(MemorySegment arena, long firstPage) {
        this.arena = arena;
        this.firstPage = firstPage;
    }

    /** Offset of the byte for the page at {@code offset}. */
    static long at(long offset) {
        return TABLE + (offset >>> ArenaLayout.PAGE_SHIFT);
    }

    /** The generation that the owner wrote for the page at {@code offset}. */
    int of(long offset) {
        return Byte.toUnsignedInt(arena.get(ValueLayout.JAVA_BYTE, at(offset)));
    }

    /** Writes the generation of a run. Called under the allocator's lock, or by the run's owner. */
    @Override
    public void changed(int page, int pages, int generation) {
        long from = at(firstPage) + page;
        byte value = (byte) generation;
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
