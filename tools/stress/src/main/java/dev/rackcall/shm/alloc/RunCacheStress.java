package dev.rackcall.shm.alloc;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Two threads of one process, one of which may get a run that was just freed. */
@JCStressTest
@Outcome(
        id = {"0, 1", "1, 0"},
        expect = ACCEPTABLE,
        desc = "A page each.")
@Outcome(expect = FORBIDDEN, desc = "One page for both, or none for one.")
@State
public class RunCacheStress {
    private final PageTable table = Tables.create(2);
    private final PageAllocator pages = Tables.allocator(table, 1);

    /** Makes an allocator with a run in its cache and another page in its table. */
    public RunCacheStress() {
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
