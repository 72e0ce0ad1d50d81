package dev.rackcall.rpc.shm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;

import dev.rackcall.rpc.shm.protocol.SlotLayout;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A planted bug: {@link ResponseStress} with plain stores and loads of the word. Processors of the x86 kind keep stores
 * in their order, and loads, so that only the compiler can bring it to light there; others do it themselves.
 */
@JCStressTest
@Outcome(
        id = {"0", "1"},
        expect = ACCEPTABLE,
        desc = "As if it were right.")
@Outcome(id = "-1", expect = ACCEPTABLE_INTERESTING, desc = "The bug: a word in front of an older response.")
@State
public class PlantedPlainWordStress {
    private final MemorySegment slot = Slots.create();

    @Actor
    public void server() {
        Slots.fill(slot, SlotLayout.RESPONSE_INLINE);
        SlotLayout.responseOutside(slot, 0, Slots.VALUE, Slots.VALUE);
        slot.set(JAVA_LONG, SlotLayout.RESPONSE_WORD, Slots.WORD);
    }

    @Actor
    public void caller(I_Result seen) {
        if (SlotLayout.isOf(slot.get(JAVA_LONG, SlotLayout.RESPONSE_WORD), Slots.TICKET)) {
            boolean whole = SlotLayout.responseLength(slot, 0) == Slots.VALUE
                    && SlotLayout.responseRef(slot, 0) == Slots.VALUE
                    && Slots.isFull(slot, SlotLayout.RESPONSE_INLINE);
            seen.r1 = whole ? 1 : -1;
        }
    }
}
