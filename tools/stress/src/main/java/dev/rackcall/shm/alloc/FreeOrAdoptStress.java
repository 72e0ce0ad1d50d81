package dev.rackcall.shm.alloc;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A run is either freed by its owner or adopted by another participant. */
@JCStressTest
@Outcome(
        id = {"1, 0", "0, 1"},
        expect = ACCEPTABLE,
        desc = "One of the two.")
@Outcome(expect = FORBIDDEN, desc = "Both, or neither.")
@State
public class FreeOrAdoptStress {
    private final PageTable table = Tables.create(8);
    private final PageAllocator giver = Tables.allocator(table, 1);
    private final PageAllocator taker = Tables.allocator(table, 2);
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
