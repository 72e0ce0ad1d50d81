package dev.rackcall.shm.alloc;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The entries of an arena's pages. Every change is one compare-and-set, so a process may die between any two of them.
 * Beside the entries there are hints for {@link TakenMap}: one word for each group of 64 pages, and one for each block
 * of 64 groups.
 *
 * <p>All accesses are volatile: the entry that names a page's owner must become visible before the data in the page.
 */
public interface PageTable {
    int GROUP_SHIFT = 6;
    int BLOCK_SHIFT = 12;

    int pages();

    /** Pairs with {@link #compareAndSet}. */
    long get(int page);

    boolean compareAndSet(int page, long expected, long entry);

    // ---- hints

    /** A bit for each page of a group. */
    long group(int group);

    /** Sets bits; returns the new word. */
    long markGroup(int group, long bits);

    void unmarkGroup(int group, long bits);

    /** A bit for each group of a block. */
    long fullGroups(int block);

    /** Sets the bit of one group in its block. */
    void markFull(int group);

    void unmarkFull(int group);

    /** A table in {@code memory}, which is {@link #bytes} long. All processes that map the memory share the table. */
    static PageTable shared(MemorySegment memory, int pages) {
        return new Shared(memory, pages);
    }

    /** A table in this process's heap. */
    static PageTable inHeap(int pages) {
        return new InHeap(pages);
    }

    /** Length of a shared table. */
    static long bytes(long pages) {
        return entryOffset(pages);
    }

    /**
     * Offset of a page's entry in a shared table. The entries and words of all earlier pages lie before this offset.
     */
    static long entryOffset(long page) {
        return (page + (page >>> GROUP_SHIFT) + (page >>> BLOCK_SHIFT) + 2) * Long.BYTES;
    }

    /**
     * A table in the arena's own memory. A block consists of its word and its groups, a group of its word and its 64
     * entries. Memory therefore only has to back the start of the table, up to the last page in use.
     */
    final class Shared implements PageTable {
        private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

        private final MemorySegment memory;
        private final int pages;

        private Shared(MemorySegment memory, int pages) {
            this.memory = memory;
            this.pages = pages;
        }

        @Override
        public int pages() {
            return pages;
        }

        @Override
        public long get(int page) {
            return (long) LONG.getVolatile(memory, entryOffset(page));
        }

        @Override
        public boolean compareAndSet(int page, long expected, long entry) {
            return LONG.compareAndSet(memory, entryOffset(page), expected, entry);
        }

        private static long groupOffset(int group) {
            return entryOffset((long) group << GROUP_SHIFT) - Long.BYTES;
        }

        private static long blockOffset(int block) {
            return entryOffset((long) block << BLOCK_SHIFT) - 2 * Long.BYTES;
        }

        @Override
        public long group(int group) {
            return (long) LONG.getVolatile(memory, groupOffset(group));
        }

        @Override
        public long markGroup(int group, long bits) {
            return (long) LONG.getAndBitwiseOr(memory, groupOffset(group), bits) | bits;
        }

        @Override
        public void unmarkGroup(int group, long bits) {
            LONG.getAndBitwiseAnd(memory, groupOffset(group), ~bits);
        }

        @Override
        public long fullGroups(int block) {
            return (long) LONG.getVolatile(memory, blockOffset(block));
        }

        @Override
        public void markFull(int group) {
            LONG.getAndBitwiseOr(memory, blockOffset(group >>> GROUP_SHIFT), 1L << group);
        }

        @Override
        public void unmarkFull(int group) {
            LONG.getAndBitwiseAnd(memory, blockOffset(group >>> GROUP_SHIFT), ~(1L << group));
        }
    }

    /** A table in the heap, in chunks that are created as the arena grows, so a large quota costs nothing. */
    final class InHeap implements PageTable {
        private static final int CHUNK_SHIFT = 8;
        private static final int CHUNK = 1 << CHUNK_SHIFT;
        private static final int GROUPS = CHUNK >>> GROUP_SHIFT;

        private final int pages;
        /** Each chunk holds entries, then the words of their groups. */
        private final AtomicLongArray[] chunks;

        private final AtomicLongArray blocks;

        private InHeap(int pages) {
            this.pages = pages;
            this.chunks = new AtomicLongArray[(pages + CHUNK - 1) >>> CHUNK_SHIFT];
            this.blocks = new AtomicLongArray((pages >>> BLOCK_SHIFT) + 1);
        }

        private synchronized AtomicLongArray makeChunk(int index) {
            if (chunks[index] == null) {
                chunks[index] = new AtomicLongArray(CHUNK + GROUPS);
            }
            return chunks[index];
        }

        private AtomicLongArray chunk(int index) {
            AtomicLongArray chunk = chunks[index];
            return chunk != null ? chunk : makeChunk(index);
        }

        @Override
        public int pages() {
            return pages;
        }

        @Override
        public long get(int page) {
            AtomicLongArray chunk = chunks[page >>> CHUNK_SHIFT];
            return chunk == null ? PageEntry.free(0, 0) : chunk.get(page & (CHUNK - 1));
        }

        @Override
        public boolean compareAndSet(int page, long expected, long entry) {
            return chunk(page >>> CHUNK_SHIFT).compareAndSet(page & (CHUNK - 1), expected, entry);
        }

        @Override
        public long group(int group) {
            AtomicLongArray chunk = chunks[group / GROUPS];
            return chunk == null ? 0 : chunk.get(CHUNK + group % GROUPS);
        }

        @Override
        public long markGroup(int group, long bits) {
            return chunk(group / GROUPS).accumulateAndGet(CHUNK + group % GROUPS, bits, (a, b) -> a | b);
        }

        @Override
        public void unmarkGroup(int group, long bits) {
            chunk(group / GROUPS).getAndAccumulate(CHUNK + group % GROUPS, bits, (a, b) -> a & ~b);
        }

        @Override
        public long fullGroups(int block) {
            return blocks.get(block);
        }

        @Override
        public void markFull(int group) {
            blocks.getAndAccumulate(group >>> GROUP_SHIFT, 1L << group, (a, b) -> a | b);
        }

        @Override
        public void unmarkFull(int group) {
            blocks.getAndAccumulate(group >>> GROUP_SHIFT, 1L << group, (a, b) -> a & ~b);
        }
    }
}
