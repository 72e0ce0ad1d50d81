package dev.rackcall.shm.alloc;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Two that reclaim from the same dead participant free each of its runs once, and all pages can be had afterwards. */
@JCStressTest
@Outcome(
        id = {"2, 0, 1", "1, 1, 1", "0, 2, 1"},
        expect = ACCEPTABLE,
        desc = "Two runs were freed.")
@Outcome(expect = FORBIDDEN, desc = "A run was freed twice, or pages are lost.")
@State
public class ReclaimStress {
    private static final int PAGES = 12;

    private final PageTable table = Tables.create(PAGES);
    private final PageAllocator first = Tables.allocator(table, 1);
    private final PageAllocator second = Tables.allocator(table, 2);

    /** Makes a table with two runs of participant 3. */
    public ReclaimStress() {
        PageAllocator dead = Tables.allocator(table, 3);
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
        result.r3 = Tables.isRun(Tables.allocator(table, 4).allocate(PAGES));
    }
}
