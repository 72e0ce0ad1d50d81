package dev.rackcall.shm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The entries of an arena's pages. Every change is one compare-and-set, so that a process may die between any two of them.
 *
 * <p>All accesses are volatile: an entry that says whose a page is must be seen before what is stored in the page, on both sides.
 */
interface PageTable {
    int pages();

    /** Pairs with {@link #compareAndSet}. */
    long get(int page);

    boolean compareAndSet(int page, long expected, long entry);

    /** A table that every process which maps {@code memory} sees. */
    static PageTable shared(MemorySegment memory) {
        return new Shared(memory);
    }

    /** A table in this process's heap. */
    static PageTable inHeap(int pages) {
        return new InHeap(pages);
    }

    /** In the arena's own memory. */
    final class Shared implements PageTable {
        private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

        private final MemorySegment memory;

        private Shared(MemorySegment memory) {
            this.memory = memory;
        }

        @Override
        public int pages() {
            return (int) (memory.byteSize() / Long.BYTES);
        }

        @Override
        public long get(int page) {
            return (long) LONG.getVolatile(memory, (long) page * Long.BYTES);
        }

        @Override
        public boolean compareAndSet(int page, long expected, long entry) {
            return LONG.compareAndSet(memory, (long) page * Long.BYTES, expected, entry);
        }
    }

    /** In chunks of heap arrays that appear as the arena grows, so that a large quota costs nothing. */
    final class InHeap implements PageTable {
        private static final int CHUNK_SHIFT = 8;
        private static final int CHUNK = 1 << CHUNK_SHIFT;

        private final int pages;
        private final AtomicLongArray[] chunks;

        private InHeap(int pages) {
            this.pages = pages;
            this.chunks = new AtomicLongArray[(pages + CHUNK - 1) >>> CHUNK_SHIFT];
        }

        private synchronized AtomicLongArray makeChunk(int index) {
            if (chunks[index] == null) {
                chunks[index] = new AtomicLongArray(CHUNK);
            }
            return chunks[index];
        }

        @Override
        public int pages() {
            return pages;
        }

        @Override
        public long get(int page) {
            AtomicLongArray chunk = chunks[page >>> CHUNK_SHIFT];
            return chunk == null ? PageEntry.free(0) : chunk.get(page & (CHUNK - 1));
        }

        @Override
        public boolean compareAndSet(int page, long expected, long entry) {
            AtomicLongArray chunk = chunks[page >>> CHUNK_SHIFT];
            return (chunk != null ? chunk : makeChunk(page >>> CHUNK_SHIFT))
                    .compareAndSet(page & (CHUNK - 1), expected, entry);
        }
    }
}
