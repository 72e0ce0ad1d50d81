package dev.rackcall.shm.alloc;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Of two participants that claim runs which overlap, exactly one gets all of its own, and the other leaves nothing
 * behind.
 */
@JCStressTest
@Outcome(
        id = {"1, 0, 4", "0, 1, 4"},
        expect = ACCEPTABLE,
        desc = "One has its run.")
@Outcome(expect = FORBIDDEN, desc = "Both or none have a run, or pages are lost.")
@State
public class ClaimStress {
    private final PageTable table = Tables.create(6);
    private final PageRuns lower = new PageRuns(table, 1);
    private final PageRuns higher = new PageRuns(table, 2);

    @Actor
    public void lower(III_Result result) {
        result.r1 = Tables.isRun(lower.claim(0, 4));
    }

    @Actor
    public void higher(III_Result result) {
        result.r2 = Tables.isRun(higher.claim(2, 4));
    }

    @Arbiter
    public void count(III_Result result) {
        result.r3 = Tables.taken(table);
    }
}
