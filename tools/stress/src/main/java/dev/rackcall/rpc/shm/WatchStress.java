package dev.rackcall.rpc.shm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A server that stops watching a connection either finds the request or is rung by the client that published it. */
@JCStressTest
@Outcome(
        id = {"0, 0", "0, 1", "1, 1"},
        expect = ACCEPTABLE,
        desc = "The client rings, or the server has seen the request.")
@Outcome(id = "1, 0", expect = FORBIDDEN, desc = "A request that is not polled.")
@State
public class WatchStress {
    private final MemorySegment control = Slots.control();
    private final MemorySegment slot = Slots.create();

    /** Makes a connection that is watched. */
    public WatchStress() {
        ControlLayout.watched(control, true);
    }

    /** As a client does; what it sees: whether it is watched, and so need not ring. */
    @Actor
    public void client(II_Result seen) {
        SlotLayout.publishRequest(slot, 0, Slots.WORD);
        VarHandle.fullFence();
        seen.r1 = ControlLayout.isWatched(control) ? 1 : 0;
    }

    /** As a poller does before it sleeps; what it sees: whether there is a request. */
    @Actor
    public void server(II_Result seen) {
        ControlLayout.watched(control, false);
        VarHandle.fullFence();
        seen.r2 = SlotLayout.isOf(SlotLayout.requestWord(slot, 0), Slots.TICKET) ? 1 : 0;
    }
}
