package dev.rackcall.shm.alloc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Runs aligned to the larger pages of their memory. */
class AlignedRunTest {
    private static final int PAGES = 4096;
    private static final int STEP = 512;
    private static final int FIRST = STEP - 1;

    private final PageAllocator allocator =
            PageAllocator.alone(PageTable.inHeap(PAGES), 1, () -> PAGES, PageAllocator.Observer.NONE);

    private static boolean isAligned(int page) {
        return page >= 0 && page % STEP == FIRST;
    }

    private int aligned(int length) {
        long run = allocator.allocate(length, FIRST, STEP);
        return run == PageRun.NONE ? PageAllocator.NONE : PageRun.page(run);
    }

    @Test
    void shouldHandOutEveryPlaceOnceAndThenNone() {
        List<Integer> places = new ArrayList<>();
        for (int page = aligned(STEP); page != PageAllocator.NONE; page = aligned(STEP)) {
            places.add(page);
        }
        assertThat(places).hasSize(7).doesNotHaveDuplicates().allMatch(AlignedRunTest::isAligned);
        assertThat(allocator.allocate(STEP)).as("what is left is shorter").isEqualTo(PageRun.NONE);
    }

    @Test
    void shouldPassOverPlacesThatAreTakenInPart() {
        long before = allocator.allocate(FIRST);
        assertThat(PageRun.page(before)).isZero();
        long small = allocator.allocate(1);
        assertThat(PageRun.page(small)).isEqualTo(FIRST);

        assertThat(aligned(2 * STEP)).isEqualTo(FIRST + STEP);
        assertThat(allocator.free(FIRST, PageRun.generation(small))).isTrue();
        for (int page = FIRST + 3 * STEP; page <= PAGES - STEP; page += STEP) {
            assertThat(aligned(STEP)).isEqualTo(page);
        }
        assertThat(aligned(STEP)).as("the small one was only kept for later").isEqualTo(FIRST);
    }

    @Test
    void shouldNeverOverlapOtherRuns() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        boolean[] taken = new boolean[PAGES];
        List<long[]> runs = new ArrayList<>();
        for (int step = 0; step < 3_000; step++) {
            if (random.nextInt(3) > 0 || runs.isEmpty()) {
                boolean large = random.nextInt(4) == 0;
                int length = large ? STEP * (1 + random.nextInt(2)) : 1 + random.nextInt(70);
                long run = large ? allocator.allocate(length, FIRST, STEP) : allocator.allocate(length);
                if (run != PageRun.NONE) {
                    assertThat(large && !isAligned(PageRun.page(run)))
                            .as("seed %d", seed)
                            .isFalse();
                    for (int i = 0; i < length; i++) {
                        assertThat(taken[PageRun.page(run) + i])
                                .as("seed %d", seed)
                                .isFalse();
                        taken[PageRun.page(run) + i] = true;
                    }
                    runs.add(new long[] {run, length});
                }
            } else {
                long[] run = runs.remove(random.nextInt(runs.size()));
                assertThat(allocator.free(PageRun.page(run[0]), PageRun.generation(run[0])))
                        .isTrue();
                for (int i = 0; i < run[1]; i++) {
                    taken[PageRun.page(run[0]) + i] = false;
                }
            }
        }
    }
}
