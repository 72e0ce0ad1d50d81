package dev.rackcall.shm.alloc;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** An idle run goes back to its owner or to a participant that needs all pages, but never to both. */
@JCStressTest
@Outcome(
        id = {"1, 0", "0, 1"},
        expect = ACCEPTABLE,
        desc = "One has the pages.")
@Outcome(expect = FORBIDDEN, desc = "Both have them, or an arena that had room was full for both.")
@State
public class IdleRunStress {
    private static final int PAGES = 10;

    private final PageTable table = Tables.create(PAGES);
    private final PageAllocator owner = Tables.allocator(table, 1);
    private final PageAllocator other = Tables.allocator(table, 2);

    /** Makes a table with an idle run of participant 1. */
    public IdleRunStress() {
        long run = owner.allocate(8);
        owner.free(PageRun.page(run), PageRun.generation(run));
    }

    @Actor
    public void owner(II_Result result) {
        result.r1 = Tables.isRun(owner.allocate(8));
    }

    @Actor
    public void other(II_Result result) {
        result.r2 = Tables.isRun(other.allocateFromOthers(PAGES));
    }
}
