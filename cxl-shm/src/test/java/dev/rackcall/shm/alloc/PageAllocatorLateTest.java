package dev.rackcall.shm.alloc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * Other participants overtake one between any two of its steps. They free what it is freeing, take what it has just
 * freed, or reclaim all it has because they believe it dead. Whatever it does when it continues, the others' runs stay
 * intact.
 */
class PageAllocatorLateTest {
    private static final int PAGES = 40;
    private static final int SURVIVOR = 1;
    private static final int LATE = 2;
    private static final int THIRD = 3;
    private static final int MAX_STEPS = 10_000;

    private PageTable table = PageTable.inHeap(PAGES);

    private static PageAllocator on(PageTable table, int participant) {
        return PageAllocator.sharing(table, participant, table::pages);
    }

    /** Runs {@code life} once for each of its steps; just before that step, {@code others} run. */
    private int interruptEverywhere(Consumer<PageAllocator> life, Runnable before, Runnable others, Runnable after) {
        for (int step = 0; ; step++) {
            assertThat(step).isLessThan(MAX_STEPS);
            table = PageTable.inHeap(PAGES);
            before.run();
            int[] left = {step};
            SteppedTable stepped = new SteppedTable(table, () -> {
                if (left[0]-- == 0) {
                    others.run();
                }
            });
            life.accept(on(stepped, LATE));
            try {
                after.run();
            } catch (AssertionError e) {
                throw new AssertionError("interrupted at step " + step, e);
            }
            if (left[0] >= 0) {
                return step;
            }
        }
    }

    /** Claims, conflicts, frees, cached runs, a flush. */
    private static void live(PageAllocator pages) {
        long one = pages.allocate(1);
        long five = pages.allocate(5);
        long nine = pages.allocate(9);
        free(pages, five);
        long three = pages.allocate(3);
        free(pages, one);
        if (three != PageRun.NONE) {
            pages.renew(PageRun.page(three), PageRun.generation(three), PageRun.epoch(three));
        }
        long large = pages.allocate(25);
        free(pages, nine);
        free(pages, large);
        pages.allocateFromOthers(30);
        pages.flush();
    }

    private static boolean free(PageAllocator pages, long run) {
        return run != PageRun.NONE && pages.free(PageRun.page(run), PageRun.generation(run));
    }

    private void requireNothingLost() {
        PageAllocator heir = on(table, THIRD);
        heir.reclaim(SURVIVOR);
        heir.reclaim(LATE);
        for (int page = 0; page < PAGES; page++) {
            assertThat(PageEntry.state(table.get(page))).as("page %d", page).isEqualTo(PageEntry.FREE);
        }
        assertThat(heir.allocate(PAGES)).isNotEqualTo(PageRun.NONE);
    }

    @Test
    void shouldTouchNothingOfOthersAlthoughItWasTakenForDead() {
        List<long[]> runs = new ArrayList<>();
        int steps = interruptEverywhere(
                PageAllocatorLateTest::live,
                runs::clear,
                () -> {
                    PageAllocator survivor = on(table, SURVIVOR);
                    survivor.reclaim(LATE);
                    for (int length : new int[] {4, 9, 1, 5, 2, 7, 3, 1, 1}) {
                        long run = survivor.allocate(length);
                        if (run != PageRun.NONE) {
                            runs.add(new long[] {run, length});
                        }
                    }
                },
                () -> {
                    BitSet pages = new BitSet();
                    for (long[] run : runs) {
                        requireWhole(run[0], (int) run[1]);
                        int head = PageRun.page(run[0]);
                        assertThat(pages.get(head, head + (int) run[1]).isEmpty())
                                .isTrue();
                        pages.set(head, head + (int) run[1]);
                    }
                    requireNothingLost();
                });
        assertThat(steps).isGreaterThan(150);
    }

    @Test
    void shouldLeaveNoTailWithoutAHeadWhenItWasReclaimedWhileItClaimed() {
        int steps = interruptEverywhere(
                late -> late.allocate(5), () -> {}, () -> on(table, SURVIVOR).reclaim(LATE), () -> {
                    PageRuns runs = new PageRuns(table, SURVIVOR);
                    for (int page = 0; page < PAGES; page++) {
                        if (PageEntry.state(table.get(page)) == PageEntry.TAIL) {
                            assertThat(runs.headOf(page))
                                    .as("head of page %d", page)
                                    .isNotEqualTo(PageRuns.NONE);
                        }
                    }
                    requireNothingLost();
                });
        assertThat(steps).isGreaterThan(10);
    }

    private void requireWhole(long run, int length) {
        int head = PageRun.page(run);
        assertThat(table.get(head)).as("head at %d", head).isEqualTo(PageRun.head(run, SURVIVOR, length));
        for (int i = 1; i < length; i++) {
            assertThat(PageEntry.state(table.get(head + i)))
                    .as("tail %d of the run of %d at %d", i, length, head)
                    .isEqualTo(PageEntry.TAIL);
            assertThat(PageEntry.length(table.get(head + i))).isEqualTo(i);
        }
    }

    @Test
    void shouldEitherFreeARunOrGiveItAwayButNotBoth() {
        long[] run = new long[1];
        boolean[] freed = new boolean[1];
        boolean[] taken = new boolean[1];
        interruptEverywhere(
                giver -> freed[0] = free(giver, run[0]),
                () -> {
                    run[0] = on(table, LATE).allocate(30);
                    taken[0] = false;
                },
                () -> {
                    PageAllocator taker = on(table, SURVIVOR);
                    int head = PageRun.page(run[0]);
                    taken[0] = taker.takeOver(head, taker.heldBy(LATE, head, PageRun.generation(run[0])));
                },
                () -> {
                    assertThat(freed[0]).isNotEqualTo(taken[0]);
                    requireNothingLost();
                });
    }

    @Test
    void shouldReuseAnIdleRunUnlessAnotherProcessTakesIt() {
        long[] late = new long[1];
        long[] other = new long[1];
        int steps = interruptEverywhere(
                pages -> {
                    free(pages, pages.allocate(8));
                    late[0] = pages.allocate(8);
                },
                () -> other[0] = PageRun.NONE,
                () -> other[0] = on(table, SURVIVOR).allocateFromOthers(PAGES - 6),
                () -> {
                    assertThat(late[0] == PageRun.NONE || other[0] == PageRun.NONE)
                            .isTrue();
                    assertThat(late[0] == PageRun.NONE && other[0] == PageRun.NONE)
                            .isFalse();
                    requireNothingLost();
                });
        assertThat(steps).isGreaterThan(20);
    }

    @Test
    void shouldGiveNoRunAGenerationThatAPageHadJustBefore() {
        for (int target = 0; target < 4; target++) {
            int page = target;
            BitSet generations = new BitSet();
            long[] run = new long[1];
            interruptEverywhere(
                    pages -> run[0] = pages.allocate(4),
                    () -> {
                        generations.clear();
                        ageOnceAround(new PageRuns(table, SURVIVOR));
                    },
                    () -> {
                        PageRuns quick = new PageRuns(table, SURVIVOR);
                        long between = quick.claim(page, 1);
                        if (!PageRun.isBlocked(between)) {
                            generations.set(PageRun.generation(between));
                            release(quick, between);
                        }
                    },
                    () -> {
                        if (run[0] != PageRun.NONE && PageRun.page(run[0]) == 0) {
                            assertThat(generations.get(PageRun.generation(run[0])))
                                    .as("generation of page %d", page)
                                    .isFalse();
                        }
                        requireNothingLost();
                    });
        }
    }

    /** The first page becomes old but keeps its generation, so its epoch hides what happens to its neighbours. */
    private static void ageOnceAround(PageRuns runs) {
        for (int use = 0; use < 256; use++) {
            release(runs, runs.claim(0, 1));
        }
    }

    private static void release(PageRuns runs, long run) {
        int head = PageRun.page(run);
        runs.release(head, runs.renew(head, runs.mine(head, PageRun.generation(run))));
    }
}
