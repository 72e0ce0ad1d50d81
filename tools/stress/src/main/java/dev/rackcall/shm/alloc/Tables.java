package dev.rackcall.shm.alloc;

import java.lang.foreign.MemorySegment;

/** Small shared page tables, and operations of the races on them. */
final class Tables {
    private Tables() {}

    static PageTable create(int pages) {
        return PageTable.shared(MemorySegment.ofArray(new long[(int) (PageTable.bytes(pages) / Long.BYTES)]), pages);
    }

    static PageAllocator allocator(PageTable table, int participant) {
        return PageAllocator.sharing(table, participant, table::pages);
    }

    static int isRun(long run) {
        return PageRun.isBlocked(run) ? 0 : 1;
    }

    static int taken(PageTable table) {
        int taken = 0;
        for (int page = 0; page < table.pages(); page++) {
            taken += PageEntry.isFree(table.get(page)) ? 0 : 1;
        }
        return taken;
    }
}
