package dev.rackcall.rpc.shm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;

import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A planted bug: {@link WakeStress} without the server's fence. Every processor moves a load before an earlier store.
 */
@JCStressTest
@Outcome(
        id = {"0, 1", "1, 0", "1, 1"},
        expect = ACCEPTABLE,
        desc = "One of the two has seen the other.")
@Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "A caller sleeps and is not woken.")
@State
public class PlantedNoFenceStress {
    private final MemorySegment control = Slots.control();
    private final MemorySegment slot = Slots.create();

    /** As a caller does before it sleeps. */
    @Actor
    public void caller(II_Result seen) {
        ControlLayout.addSleeper(control, 1);
        seen.r1 = SlotLayout.isOf(SlotLayout.responseWord(slot, 0), Slots.TICKET) ? 1 : 0;
    }

    /** As a server does after it has answered. */
    @Actor
    public void server(II_Result seen) {
        SlotLayout.publishResponse(slot, 0, Slots.WORD);
        seen.r2 = ControlLayout.hasSleepers(control) ? 1 : 0;
    }
}
