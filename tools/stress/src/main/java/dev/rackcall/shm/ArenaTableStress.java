package dev.rackcall.shm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A Ref is refused until its arena is added to the table, and resolves from then on, even while other arenas are added.
 */
@JCStressTest
@Outcome(id = "0|1", expect = ACCEPTABLE, desc = "Refused, or followed to its memory.")
@Outcome(expect = FORBIDDEN, desc = "Anything else.")
@State
public class ArenaTableStress {
    private static final SharedFile FILE = SharedFile.memfd("rackcall-stress", 1 << 20);
    private static final MemorySegment MEMORY = FILE.map().memory();
    private static final Arena ARENA = Arena.create(new ArenaSpec(7, MEMORY, FILE, 0, TableHome.PRIVATE, 1, 64 << 10));
    private static final long REF = ARENA.allocateRun(4096);

    private final ArenaTable table = ArenaTable.create();

    @Actor
    public void add() {
        table.add(ARENA);
    }

    @Actor
    public void follow(I_Result result) {
        try {
            result.r1 = table.memory(REF).equals(MEMORY) ? 1 : -1;
        } catch (RefException e) {
            result.r1 = 0;
        }
    }
}
