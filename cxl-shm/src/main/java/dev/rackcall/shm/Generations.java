package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageAllocator;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The generations of an arena's pages for those who follow Refs into it but have not its page table, because that is in the memory of the one process that allocates: one byte
 * for each page, behind the arena's header. That process writes what its table says whenever it hands a run out or makes a run's Refs stale; it never believes them, so a
 * peer that scribbles there deceives nobody but itself.
 *
 * <p>Plain accesses: whoever passes a Ref on publishes it with release after the byte was written, and whoever gets it acquires that, so he sees
 * this byte or a later one. A Ref that goes stale while somebody follows it is a race in the caller's own program, which no order here could mend.
 */
final class Generations implements PageAllocator.Observer {
    /** On a line of its own: the header's reserved bytes change seldom. */
    private static final long TABLE = 64;

    /** Up to here byte by byte beats a bulk fill. */
    private static final int SMALL = 64;

    private final MemorySegment arena;
    private final long firstPage;

    /** @param firstPage where in the arena the page table's first page lies */
    Generations(MemorySegment arena, long firstPage) {
        this.arena = arena;
        this.firstPage = firstPage;
    }

    /** Where the byte of the page lies that holds what is at {@code offset} of an arena. */
    static long at(long offset) {
        return TABLE + (offset >>> ArenaLayout.PAGE_SHIFT);
    }

    /** What the owner says of the page that holds what is at {@code offset}. */
    int of(long offset) {
        return Byte.toUnsignedInt(arena.get(ValueLayout.JAVA_BYTE, at(offset)));
    }

    /** Says it of a run. Under the allocator's lock, or by whoever owns the run. */
    @Override
    public void changed(int page, int pages, int generation) {
        long from = at(firstPage) + page;
        byte value = (byte) generation;
        if (pages > SMALL) {
            arena.asSlice(from, pages).fill(value);
            return;
        }
        for (long at = from; at < from + pages; at++) {
            // Most runs are handed out as they were freed: a line that does not change stays in the peer's cache.
            if (arena.get(ValueLayout.JAVA_BYTE, at) != value) {
                arena.set(ValueLayout.JAVA_BYTE, at, value);
            }
        }
    }
}
