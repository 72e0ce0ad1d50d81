package dev.rackcall.shm.alloc;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Races of the page table that participants share. */
public final class PageRaces {
    private PageRaces() {}

    private static PageTable create(int pages) {
        return PageTable.shared(MemorySegment.ofArray(new long[(int) (PageTable.bytes(pages) / Long.BYTES)]), pages);
    }

    private static PageAllocator allocator(PageTable table, int participant) {
        return PageAllocator.sharing(table, participant, table::pages);
    }

    private static int isRun(long run) {
        return PageRun.isBlocked(run) ? 0 : 1;
    }

    private static int taken(PageTable table) {
        int taken = 0;
        for (int page = 0; page < table.pages(); page++) {
            taken += PageEntry.isFree(table.get(page)) ? 0 : 1;
        }
        return taken;
    }

    /**
     * Of two participants that claim overlapping runs, exactly one gets its whole run, and the other leaves nothing
     * behind.
     */
    @JCStressTest
    @Outcome(id = "1, 0, 4|0, 1, 4", expect = ACCEPTABLE, desc = "One has its run.")
    @Outcome(expect = FORBIDDEN, desc = "Both or none have a run, or pages are lost.")
    @State
    public static class Claim {
        private final PageTable table = create(6);
        private final PageRuns lower = new PageRuns(table, 1);
        private final PageRuns higher = new PageRuns(table, 2);

        @Actor
        public void lower(III_Result result) {
            result.r1 = isRun(lower.claim(0, 4));
        }

        @Actor
        public void higher(III_Result result) {
            result.r2 = isRun(higher.claim(2, 4));
        }

        @Arbiter
        public void count(III_Result result) {
            result.r3 = taken(table);
        }
    }

    /** A run is either freed by its owner or adopted by another participant. */
    @JCStressTest
    @Outcome(id = "1, 0|0, 1", expect = ACCEPTABLE, desc = "One of the two.")
    @Outcome(expect = FORBIDDEN, desc = "Both, or neither.")
    @State
    public static class FreeOrAdopt {
        private final PageTable table = create(8);
        private final PageAllocator giver = allocator(table, 1);
        private final PageAllocator taker = allocator(table, 2);
        private final long run = giver.allocate(5);

        @Actor
        public void free(II_Result result) {
            result.r1 = giver.free(PageRun.page(run), PageRun.generation(run)) ? 1 : 0;
        }

        @Actor
        public void adopt(II_Result result) {
            long entry = taker.heldBy(1, PageRun.page(run), PageRun.generation(run));
            result.r2 = taker.takeOver(PageRun.page(run), entry) ? 1 : 0;
        }
    }

    /** The new owner of a run sees everything that was stored in its pages before. */
    @JCStressTest
    @Outcome(id = "0, 0|0, 1|1, 1", expect = ACCEPTABLE, desc = "The content is there as soon as the run is.")
    @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "A run without its content.")
    @State
    public static class Transfer {
        private final PageTable table = create(4);
        private final PageAllocator giver = allocator(table, 1);
        private final long run = giver.allocate(2);
        private int content;

        @Actor
        public void give() {
            content = 1;
            long entry = giver.heldBy(1, PageRun.page(run), PageRun.generation(run));
            table.compareAndSet(PageRun.page(run), entry, PageEntry.owned(entry, 2));
        }

        @Actor
        public void receive(II_Result result) {
            result.r1 = PageEntry.isHeadOf(table.get(PageRun.page(run)), 2) ? 1 : 0;
            result.r2 = content;
        }
    }

    /** Two threads of one process, one of which may get a run that was just freed. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0", expect = ACCEPTABLE, desc = "A page each.")
    @Outcome(expect = FORBIDDEN, desc = "One page for both, or none for one.")
    @State
    public static class RunCache {
        private final PageTable table = create(2);
        private final PageAllocator pages = allocator(table, 1);

        /** Makes an allocator with a run in its cache and another page in its table. */
        public RunCache() {
            long run = pages.allocate(1);
            pages.free(PageRun.page(run), PageRun.generation(run));
        }

        @Actor
        public void one(II_Result result) {
            result.r1 = PageRun.page(pages.allocate(1));
        }

        @Actor
        public void another(II_Result result) {
            result.r2 = PageRun.page(pages.allocate(1));
        }
    }

    /** An idle run goes back to its owner or to a participant that needs all pages, but never to both. */
    @JCStressTest
    @Outcome(id = "1, 0|0, 1", expect = ACCEPTABLE, desc = "One has the pages.")
    @Outcome(expect = FORBIDDEN, desc = "Both have them, or an arena that had room was full for both.")
    @State
    public static class IdleRun {
        private static final int PAGES = 10;

        private final PageTable table = create(PAGES);
        private final PageAllocator owner = allocator(table, 1);
        private final PageAllocator other = allocator(table, 2);

        /** Makes a table with an idle run of participant 1. */
        public IdleRun() {
            long run = owner.allocate(8);
            owner.free(PageRun.page(run), PageRun.generation(run));
        }

        @Actor
        public void owner(II_Result result) {
            result.r1 = isRun(owner.allocate(8));
        }

        @Actor
        public void other(II_Result result) {
            result.r2 = isRun(other.allocateFromOthers(PAGES));
        }
    }

    /** Two participants that reclaim from a dead one free each of its runs once, and all pages are allocatable afterwards. */
    @JCStressTest
    @Outcome(id = "2, 0, 1|1, 1, 1|0, 2, 1", expect = ACCEPTABLE, desc = "Two runs were freed.")
    @Outcome(expect = FORBIDDEN, desc = "A run was freed twice, or pages are lost.")
    @State
    public static class Reclaim {
        private static final int PAGES = 12;

        private final PageTable table = create(PAGES);
        private final PageAllocator first = allocator(table, 1);
        private final PageAllocator second = allocator(table, 2);

        /** Makes a table with two runs of participant 3. */
        public Reclaim() {
            PageAllocator dead = allocator(table, 3);
            dead.allocate(5);
            dead.allocate(3);
        }

        @Actor
        public void first(III_Result result) {
            result.r1 = first.reclaim(3);
        }

        @Actor
        public void second(III_Result result) {
            result.r2 = second.reclaim(3);
        }

        @Arbiter
        public void takeAll(III_Result result) {
            result.r3 = isRun(allocator(table, 4).allocate(PAGES));
        }
    }

    /** A table without a free page, one of which seems free. */
    private static final class HiddenPage {
        private static final int GROUP = 64;
        private static final int PAGE = 5;

        private final PageTable table = create(GROUP);
        private final TakenMap map = new TakenMap(table);
        private final PageRuns owner = new PageRuns(table, 1);
        private final long run;

        HiddenPage() {
            owner.claim(0, PAGE);
            run = owner.claim(PAGE, 1);
            owner.claim(PAGE + 1, GROUP - PAGE - 1);
            map.unmark(PAGE, 1);
        }

        void free() {
            owner.release(PAGE, PageRun.head(run, 1, 1));
        }

        boolean isFound() {
            return map.find(0, GROUP, 1) == PAGE;
        }
    }

    /** A page that is freed while a search finds it taken, and marks it so, does not stay hidden. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "The next search finds the page.")
    @Outcome(id = "0", expect = FORBIDDEN, desc = "A free page that no search finds.")
    @State
    public static class Hint {
        private final HiddenPage page = new HiddenPage();

        @Actor
        public void free() {
            page.free();
        }

        @Actor
        public void search() {
            page.map.markTaken(HiddenPage.PAGE, 1); // it finds the page taken
        }

        @Arbiter
        public void take(I_Result result) {
            result.r1 = page.isFound() ? 1 : 0;
        }
    }

    /** A planted bug: {@link Hint} whose searcher does not look again after it has set the hint. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "The next search finds the page.")
    @Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "A free page that no search finds.")
    @State
    public static class PlantedHiddenPage {
        private final HiddenPage page = new HiddenPage();

        @Actor
        public void free() {
            page.free();
        }

        @Actor
        public void search() {
            if (!PageEntry.isFree(page.table.get(HiddenPage.PAGE))) {
                page.map.mark(HiddenPage.PAGE, 1);
            }
        }

        @Arbiter
        public void take(I_Result result) {
            result.r1 = page.isFound() ? 1 : 0;
        }
    }
}
