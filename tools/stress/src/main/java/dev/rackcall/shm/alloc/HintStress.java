package dev.rackcall.shm.alloc;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** A page that is freed while a search finds it taken, and says so, does not stay hidden. */
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "The next search finds the page.")
@Outcome(id = "0", expect = FORBIDDEN, desc = "A free page that no search finds.")
@State
public class HintStress {
    private static final int GROUP = 64;
    private static final int PAGE = 5;

    private final PageTable table = Tables.create(GROUP);
    private final TakenMap map = new TakenMap(table);
    private final PageRuns owner = new PageRuns(table, 1);
    private final long run;

    /** Makes a table without a free page, one of which seems free. */
    public HintStress() {
        owner.claim(0, PAGE);
        run = owner.claim(PAGE, 1);
        owner.claim(PAGE + 1, GROUP - PAGE - 1);
        map.unmark(PAGE, 1);
    }

    @Actor
    public void free() {
        owner.release(PAGE, PageRun.head(run, 1, 1));
    }

    /** Finds the page taken. */
    @Actor
    public void search() {
        map.markTaken(PAGE, 1);
    }

    @Arbiter
    public void take(I_Result result) {
        result.r1 = map.find(0, GROUP, 1) == PAGE ? 1 : 0;
    }
}
