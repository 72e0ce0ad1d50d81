package dev.rackcall.rpc.shm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.rackcall.rpc.shm.protocol.SlotLayout;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** A caller that sees a response's word sees the whole response. */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "No response yet.")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "A whole response.")
@Outcome(expect = FORBIDDEN, desc = "A word in front of an older response.")
@State
public class ResponseStress {
    private final MemorySegment slot = Slots.create();

    @Actor
    public void server() {
        Slots.fill(slot, SlotLayout.RESPONSE_INLINE);
        SlotLayout.responseOutside(slot, 0, Slots.VALUE, Slots.VALUE);
        SlotLayout.publishResponse(slot, 0, Slots.WORD);
    }

    @Actor
    public void caller(I_Result seen) {
        if (SlotLayout.isOf(SlotLayout.responseWord(slot, 0), Slots.TICKET)) {
            boolean whole = SlotLayout.responseLength(slot, 0) == Slots.VALUE
                    && SlotLayout.responseRef(slot, 0) == Slots.VALUE
                    && Slots.isFull(slot, SlotLayout.RESPONSE_INLINE);
            seen.r1 = whole ? 1 : -1;
        }
    }
}
