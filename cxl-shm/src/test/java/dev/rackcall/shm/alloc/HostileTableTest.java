package dev.rackcall.shm.alloc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Whatever the entries of a shared page table hold, each operation of the allocator ends after a bounded number of
 * steps.
 */
class HostileTableTest {
    private static final int SEEDS = 300;
    private static final int OPERATIONS = 60;

    @Test
    void shouldTakeBoundedStepsWhateverTheTableHolds() {
        long first = System.nanoTime();
        int pages = 200;
        // A few passes, each with a few looks at each page.
        long budget = 24L * pages;
        // The maximum number of sweeps, over a table that keeps changing.
        long patience = 32 * budget;
        for (long seed = first; seed < first + SEEDS; seed++) {
            Random random = new Random(seed);
            PageTable table = PageTable.inHeap(pages);
            long[] steps = new long[1];
            PageAllocator allocator = PageAllocator.sharing(new SteppedTable(table, () -> steps[0]++), 1, () -> pages);
            for (int i = 0; i < OPERATIONS; i++) {
                for (int page = 0; page < pages && random.nextInt(8) == 0; page++) {
                    table.compareAndSet(page, table.get(page), SteppedTable.hostileEntry(random));
                }
                steps[0] = 0;
                int page = random.nextInt(pages);
                int choice = random.nextInt(6);
                switch (choice) {
                    case 0 -> allocator.allocate(1 + random.nextInt(20));
                    case 5 -> allocator.allocateFromOthers(1 + random.nextInt(20));
                    case 1 -> allocator.free(page, PageEntry.generation(table.get(page)));
                    case 2 -> allocator.reclaim(random.nextInt(4));
                    case 3 -> allocator.flush();
                    default -> assertThat(allocator.headOf(page)).isBetween(PageAllocator.NONE, pages - 1);
                }
                assertThat(steps[0]).as("seed %d", seed).isLessThan(choice == 5 ? patience : budget);
            }
        }
    }

    @Test
    void shouldReclaimInBoundedStepsWhileThePeerClaimsEveryPageAnew() {
        int pages = 2_000;
        PageTable table = PageTable.inHeap(pages);
        long[] steps = new long[1];
        PageAllocator allocator = PageAllocator.sharing(
                new SteppedTable(table, () -> {
                    // Behind each page that is read, a run begins that ends with the table.
                    long step = steps[0]++;
                    for (int page = 0; page < pages && step % 100 == 0; page++) {
                        int head = page / 100 * 100;
                        long entry = page == head ? PageEntry.head(2, 5, 5, pages) : PageEntry.tail(5, page - head);
                        table.compareAndSet(page, table.get(page), entry);
                    }
                }),
                1,
                () -> pages);
        allocator.reclaim(2);
        assertThat(steps[0]).isLessThan(12L * pages);
    }
}
