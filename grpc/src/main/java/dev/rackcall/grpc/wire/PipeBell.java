package dev.rackcall.grpc.wire;

import dev.rackcall.grpc.wire.PipeLayout.Side;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The wake-ups of one end. An end that neither its loop nor a caller polls says so in its word, fences, and looks at the
 * pipes once more. Its peer publishes or makes room, fences, and then reads the word. So at least one of the two sees
 * the other's store, and no frame waits for an end that sleeps.
 */
final class PipeBell {
    private final MemorySegment memory;
    private final Side side;

    /** Guarded by this object, as is the word of this end: a caller that leaves sees a loop that polls, or sets it. */
    private boolean polled;

    private boolean helped;

    PipeBell(MemorySegment memory, Side side) {
        this.memory = memory;
        this.side = side;
    }

    /** The loop begins to poll, or stops; before it sleeps, it has to fence and to look once more. */
    synchronized void loopPolls(boolean polls) {
        polled = polls;
        PipeLayout.asleep(memory, side, !polls && !helped);
    }

    /** A caller begins to poll. */
    synchronized void callerPolls() {
        helped = true;
        PipeLayout.asleep(memory, side, false);
    }

    /** The caller stops. Returns whether it has to look once more, since the loop sleeps and the peer has not rung. */
    synchronized boolean callerLeaves() {
        helped = false;
        if (polled) {
            return false;
        }
        PipeLayout.asleep(memory, side, true);
        fence();
        return true;
    }

    /** After this end has published frames: whether this thread has to ring the peer. */
    boolean claimRing() {
        fence();
        return PipeLayout.claimRing(memory, side.peer());
    }

    /** After this end has made room: whether this thread has to ring the peer. */
    boolean claimRingForRoom() {
        fence();
        return PipeLayout.isWaitingForRoom(memory, side.peer()) && PipeLayout.claimRing(memory, side.peer());
    }

    /** This end waits for room, or no longer. The caller looks for room afterwards. */
    void waitsForRoom(boolean waits) {
        PipeLayout.waitsForRoom(memory, side, waits);
        if (waits) {
            fence();
        }
    }

    /** Orders a store before the following load: word and pipe at one end, pipe and word at the other. */
    static void fence() {
        VarHandle.fullFence();
    }
}
