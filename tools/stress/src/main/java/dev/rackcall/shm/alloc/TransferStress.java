package dev.rackcall.shm.alloc;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** The new owner of a run sees everything that was stored in its pages before. */
@JCStressTest
@Outcome(
        id = {"0, 0", "0, 1", "1, 1"},
        expect = ACCEPTABLE,
        desc = "The content is there as soon as the run is.")
@Outcome(id = "1, 0", expect = FORBIDDEN, desc = "A run without its content.")
@State
public class TransferStress {
    private final PageTable table = Tables.create(4);
    private final PageAllocator giver = Tables.allocator(table, 1);
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
