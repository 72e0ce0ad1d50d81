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

/** A server that sees a request's word sees the whole request. */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "No request yet.")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "A whole request.")
@Outcome(expect = FORBIDDEN, desc = "A word in front of an older request.")
@State
public class RequestStress {
    private final MemorySegment slot = Slots.create();

    @Actor
    public void client() {
        Slots.fill(slot, SlotLayout.REQUEST_INLINE);
        SlotLayout.requestOutside(slot, 0, Slots.VALUE, Slots.VALUE);
        SlotLayout.requestDeadline(slot, 0, Slots.VALUE);
        SlotLayout.publishRequest(slot, 0, Slots.WORD);
    }

    @Actor
    public void server(I_Result seen) {
        if (SlotLayout.isOf(SlotLayout.requestWord(slot, 0), Slots.TICKET)) {
            boolean whole = SlotLayout.requestLength(slot, 0) == Slots.VALUE
                    && SlotLayout.requestRef(slot, 0) == Slots.VALUE
                    && SlotLayout.requestDeadline(slot, 0) == Slots.VALUE
                    && Slots.isFull(slot, SlotLayout.REQUEST_INLINE);
            seen.r1 = whole ? 1 : -1;
        }
    }
}
