package dev.rackcall.shm.alloc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Counts the reads of the page table needed to find a run in an arena of 1 GiB. Counts steps and not time, so the
 * results are the same everywhere.
 */
class PageSearchTest {
    private static final int PAGES = 1 << 18;
    private static final int MINE = 1;
    private static final int THEIRS = 2;
    /** One word for each group of 64 pages, and one for each block of 64 groups. */
    private static final int HINTS = PAGES / 64 + PAGES / 4096;

    private final PageTable table = PageTable.inHeap(PAGES);
    private long steps;
    private final PageAllocator pages =
            PageAllocator.sharing(new SteppedTable(table, () -> steps++), MINE, () -> PAGES);
    private final PageAllocator others = PageAllocator.sharing(table, THEIRS, () -> PAGES);

    /** Allocates everything, in runs of {@code length}. */
    private List<Long> fill(int length) {
        List<Long> runs = new ArrayList<>();
        for (long run = others.allocate(length); run != PageRun.NONE; run = others.allocate(length)) {
            runs.add(run);
        }
        return runs;
    }

    private static void free(PageAllocator pages, long run) {
        assertThat(pages.free(PageRun.page(run), PageRun.generation(run))).isTrue();
        pages.flush();
    }

    private long stepsOf(Runnable action) {
        steps = 0;
        action.run();
        return steps;
    }

    @Test
    void shouldFindTheLastFreePagesInAFewSteps() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Long> runs = fill(1);
        long most = 0;
        for (int i = 0; i < 1_000; i++) {
            free(others, runs.remove(random.nextInt(runs.size())));
            long found = stepsOf(() -> runs.add(pages.allocate(1)));
            assertThat(runs.getLast()).isNotEqualTo(PageRun.NONE);
            runs.removeLast();
            runs.add(giveTo(others));
            most = Math.max(most, found);
        }
        // Twice the number of block words, plus the cost of taking a page.
        assertThat(most).as("seed %d", seed).isBetween(5L, 2L * PAGES / 4096 + 16);
    }

    /** Hands the page that was just found to the other participant, which frees it the next time. */
    private long giveTo(PageAllocator taker) {
        for (int page = 0; page < PAGES; page++) {
            long entry = table.get(page);
            if (PageEntry.isHeadOf(entry, MINE)) {
                assertThat(taker.takeOver(page, entry)).isTrue();
                return PageRun.of(page, entry);
            }
        }
        throw new AssertionError("nothing was found");
    }

    @Test
    void shouldFindARunAmongScatteredPagesWithOneLookForEach64() {
        List<Long> runs = fill(1);
        for (int i = 0; i < runs.size(); i += 2) {
            free(others, runs.get(i));
        }
        free(others, runs.get(runs.size() - 1));
        long found = stepsOf(() -> assertThat(pages.allocate(2)).isNotEqualTo(PageRun.NONE));
        assertThat(found).isBetween(100L, HINTS + 32L);
    }

    @Test
    void shouldSayThatNothingIsFreeAfterOneLookForEachBlock() {
        fill(8);
        assertThat(stepsOf(() -> assertThat(pages.allocate(1)).isEqualTo(PageRun.NONE)))
                .isBetween(1L, 2L * PAGES / 4096 + 16);
    }

    @Test
    void shouldLookAtTheWholeTableAFewTimesBeforeItRefuses() {
        fill(1);
        assertThat(stepsOf(() -> assertThat(pages.allocateFromOthers(1)).isEqualTo(PageRun.NONE)))
                .isLessThan(PAGES + HINTS + 32);
    }

    @Test
    void shouldFindWhatTheDeadHaveHidden() {
        fill(8);
        // As if a process had died after freeing these pages and before updating the hints.
        long head = table.get(8 * 1000);
        for (int i = 7; i > 0; i--) {
            table.compareAndSet(8_000 + i, PageEntry.tail(PageEntry.epoch(head), i), PageEntry.freed(head));
        }
        table.compareAndSet(8_000, head, PageEntry.freed(head));
        assertThat(pages.allocate(8)).isEqualTo(PageRun.NONE);
        assertThat(PageRun.page(pages.allocateFromOthers(8))).isEqualTo(8_000);
    }

    @Test
    void shouldFindWhatASlowSearchWouldFind() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int small = 1_000;
        for (int round = 0; round < 300; round++) {
            PageTable table = PageTable.inHeap(small);
            TakenMap map = new TakenMap(table);
            boolean[] taken = new boolean[small];
            int density = 1 + random.nextInt(40);
            for (int page = 0; page < small; page++) {
                if (random.nextInt(40) < density) {
                    taken[page] = true;
                    map.mark(page, 1);
                }
            }
            for (int query = 0; query < 20; query++) {
                int from = random.nextInt(small);
                int to = from + random.nextInt(small - from + 1);
                int length = 1 + random.nextInt(random.nextBoolean() ? 4 : 200);
                assertThat(map.find(from, to, length))
                        .as("seed %d, round %d: %d pages between %d and %d", seed, round, length, from, to)
                        .isEqualTo(slowFind(taken, from, to, length));
            }
        }
    }

    private static int slowFind(boolean[] taken, int from, int to, int length) {
        int row = 0;
        for (int page = from; page < to; page++) {
            row = taken[page] ? 0 : row + 1;
            if (row == length) {
                return page - length + 1;
            }
        }
        return -1;
    }

    /** Between setting the last bit of a group and updating its block. */
    @Test
    void shouldNotHideAPageThatIsFreedWhileItsGroupFillsUp() {
        PageTable small = PageTable.inHeap(128);
        boolean[] freed = new boolean[1];
        SteppedTable stepped = new SteppedTable(small, () -> {
            if (small.group(0) == -1L && !freed[0]) {
                freed[0] = true;
                new TakenMap(small).unmark(5, 1);
            }
        });

        new TakenMap(stepped).mark(0, 64);

        assertThat(freed[0]).isTrue();
        assertThat(new TakenMap(small).find(0, 64, 1)).isEqualTo(5);
    }
}
