package dev.rackcall.shm.alloc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * A participant dies before its k-th step, for every k. One that reclaims it dies before its j-th step, and a third
 * reclaims both. After that every page must be accounted for.
 */
class PageAllocatorCrashTest {
    private static final int PAGES = 40;
    private static final int BYSTANDER = 1;
    private static final int VICTIM = 2;
    private static final int FIRST_HEIR = 3;
    private static final int SECOND_HEIR = 4;
    private static final long SEED = 20;

    /** Counts down the steps until death. */
    private static final class Fuse {
        private int left;

        private Fuse(int left) {
            this.left = left;
        }

        private void burn() {
            if (left-- == 0) {
                throw new Killed();
            }
        }
    }

    private final List<int[]> bystanders = new ArrayList<>();

    @Test
    void shouldLoseAndDoubleNoPageWhereverProcessesDie() {
        int victimSteps = 0;
        while (dies(victimSteps, Integer.MAX_VALUE)) {
            victimSteps++;
        }
        int combinations = 0;
        for (int k = 0; k < victimSteps; k += 3) {
            for (int j = 0; diesTwice(k, j); j++) {
                combinations++;
            }
        }
        assertThat(victimSteps).isGreaterThan(300);
        assertThat(combinations).isGreaterThan(5_000);
    }

    /** Whether the victim died before its step {@code k}, that is, whether it takes that many. */
    private boolean dies(int k, int j) {
        PageTable table = tableWithBystander();
        boolean died = act(table, VICTIM, k, victim -> live(table, victim));
        act(table, FIRST_HEIR, j, heir -> heir.reclaim(VICTIM));
        checkAccounts(table, k, j);
        return died;
    }

    private boolean diesTwice(int k, int j) {
        PageTable table = tableWithBystander();
        act(table, VICTIM, k, victim -> live(table, victim));
        boolean died = act(table, FIRST_HEIR, j, heir -> heir.reclaim(VICTIM));
        checkAccounts(table, k, j);
        return died;
    }

    private interface Life {
        void live(PageAllocator pages);
    }

    private static boolean act(PageTable table, int participant, int fuse, Life life) {
        Fuse burning = new Fuse(fuse);
        try {
            life.live(PageAllocator.sharing(new SteppedTable(table, burning::burn), participant, () -> PAGES));
            return false;
        } catch (Killed e) {
            return true;
        }
    }

    private PageTable tableWithBystander() {
        bystanders.clear();
        PageTable table = PageTable.inHeap(PAGES);
        PageAllocator bystander = PageAllocator.sharing(table, BYSTANDER, () -> PAGES);
        long hole = bystander.allocate(3);
        for (int length : new int[] {2, 5}) {
            long run = bystander.allocate(length);
            bystanders.add(new int[] {PageRun.page(run), length, PageRun.generation(run)});
        }
        bystander.free(PageRun.page(hole), PageRun.generation(hole));
        bystander.flush();
        return table;
    }

    /** The same life for every k. */
    private void live(PageTable table, PageAllocator pages) {
        Random random = new Random(SEED);
        List<Long> held = new ArrayList<>();
        for (int step = 0; step < 40; step++) {
            int choice = random.nextInt(5);
            if (choice < 3 || held.isEmpty()) {
                int length = 1 + random.nextInt(6);
                long run = pages.allocate(length);
                if (run == PageRun.NONE) {
                    run = pages.allocateFromOthers(length);
                }
                if (run != PageRun.NONE) {
                    held.add(run);
                }
            } else if (choice == 3) {
                long run = held.remove(/* index */ random.nextInt(held.size()));
                pages.free(PageRun.page(run), PageRun.generation(run));
            } else {
                int[] lent = bystanders.getLast();
                if (pages.takeOver(lent[0], pages.heldBy(BYSTANDER, lent[0], lent[2]))) {
                    PageAllocator bystander = PageAllocator.sharing(table, BYSTANDER, () -> PAGES);
                    bystander.takeOver(lent[0], bystander.heldBy(VICTIM, lent[0], lent[2]));
                }
                pages.flush();
            }
        }
    }

    private void checkAccounts(PageTable table, int k, int j) {
        String death = "victim died at step " + k + ", its heir at " + j;
        PageAllocator heir = PageAllocator.sharing(table, SECOND_HEIR, () -> PAGES);
        heir.reclaim(VICTIM);
        heir.reclaim(FIRST_HEIR);
        assertThat(heir.reclaim(VICTIM) + heir.reclaim(FIRST_HEIR)).as(death).isZero();

        boolean[] held = new boolean[PAGES];
        for (int[] run : bystanders) {
            boolean freed = !PageEntry.isHeadOf(table.get(run[0]), BYSTANDER);
            if (run == bystanders.getLast() && freed) {
                // The victim had borrowed it when it died.
                continue;
            }
            for (int page = run[0]; page < run[0] + run[1]; page++) {
                held[page] = true;
                assertThat(heir.headOf(page))
                        .as("head of page %d; %s", page, death)
                        .isEqualTo(run[0]);
                assertThat(PageEntry.owner(table.get(run[0]))).as(death).isEqualTo(BYSTANDER);
            }
        }
        int free = 0;
        for (int page = 0; page < PAGES; page++) {
            if (!held[page]) {
                assertThat(PageEntry.state(table.get(page)))
                        .as("state of page %d; %s", page, death)
                        .isEqualTo(PageEntry.FREE);
                free++;
            }
        }
        for (int i = 0; i < free; i++) {
            assertThat(heir.allocate(1)).as(death).isNotEqualTo(PageRun.NONE);
        }
        assertThat(heir.allocate(1)).as(death).isEqualTo(PageRun.NONE);
    }
}
