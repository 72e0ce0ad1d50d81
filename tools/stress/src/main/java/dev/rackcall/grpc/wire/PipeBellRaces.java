package dev.rackcall.grpc.wire;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.rackcall.grpc.wire.PipeLayout.Side;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** Races between an end that goes to sleep and its peer, which publishes frames or makes room. The client sleeps. */
public final class PipeBellRaces {
    private static final int CONTROL_LONGS = 128;
    private static final long BYTES = 16;

    private PipeBellRaces() {}

    /** The control words of a connection, of which the client polls its pipe. */
    static class Words {
        final MemorySegment memory = MemorySegment.ofArray(new long[CONTROL_LONGS]);
        final PipeBell client = new PipeBell(memory, Side.CLIENT);
        final PipeBell server = new PipeBell(memory, Side.SERVER);

        Words() {
            client.loopPolls(true);
        }

        final boolean seesFrames() {
            return PipeLayout.tail(memory, Side.SERVER) != 0;
        }

        final int publish() {
            PipeLayout.tail(memory, Side.SERVER, BYTES);
            return server.claimRing() ? 1 : 0;
        }

        final int sleep() {
            client.loopPolls(false);
            PipeBell.fence();
            return seesFrames() ? 1 : 0;
        }
    }

    /** A loop that goes to sleep sees the frame, or its peer rings. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "It sees the frame, is rung, or both.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "It sleeps beside a frame.")
    @State
    public static class Frames extends Words {
        @Actor
        public void sleeps(II_Result seen) {
            seen.r1 = sleep();
        }

        @Actor
        public void publishes(II_Result seen) {
            seen.r2 = publish();
        }
    }

    /** An end whose loop sleeps, and that waits for room, sees the room or is rung. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "It sees the room, is rung, or both.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "It waits beside room.")
    @State
    public static class Room extends Words {
        public Room() {
            client.loopPolls(false);
        }

        @Actor
        public void waits(II_Result seen) {
            client.waitsForRoom(true);
            seen.r1 = PipeLayout.head(memory, Side.CLIENT) != 0 ? 1 : 0;
        }

        @Actor
        public void reads(II_Result seen) {
            PipeLayout.head(memory, Side.CLIENT, BYTES);
            seen.r2 = server.claimRingForRoom() ? 1 : 0;
        }
    }

    /** A caller stops polling before its loop goes to sleep, beside a peer: one of them handles the frame. */
    @JCStressTest
    @Outcome(
            id = "0, 0, 1|0, 1, 0|0, 1, 1|1, 1, 0|1, 1, 1",
            expect = ACCEPTABLE,
            desc = "The caller sees the frame, the loop does, or the peer rings.")
    @Outcome(id = "1, 0, 0|1, 0, 1", expect = FORBIDDEN, desc = "The loop does not see what the caller saw before.")
    @Outcome(id = "0, 0, 0", expect = FORBIDDEN, desc = "Both sleep beside a frame.")
    @State
    public static class CallerLeavesFirst extends Words {
        public CallerLeavesFirst() {
            client.callerPolls();
        }

        @Actor
        public void leavesAndSleeps(III_Result seen) {
            seen.r1 = client.callerLeaves() && seesFrames() ? 1 : 0;
            seen.r2 = sleep();
        }

        @Actor
        public void publishes(III_Result seen) {
            seen.r3 = publish();
        }
    }

    /** The same in the other order: the loop sleeps while the caller still polls. */
    @JCStressTest
    @Outcome(
            id = "0, 0, 1|0, 1, 0|0, 1, 1|1, 0, 0|1, 0, 1|1, 1, 0|1, 1, 1",
            expect = ACCEPTABLE,
            desc = "The loop sees the frame, the caller does, or the peer rings.")
    @Outcome(id = "0, 0, 0", expect = FORBIDDEN, desc = "Both sleep beside a frame.")
    @State
    public static class CallerLeavesLast extends Words {
        public CallerLeavesLast() {
            client.callerPolls();
        }

        @Actor
        public void sleepsAndLeaves(III_Result seen) {
            seen.r2 = sleep();
            seen.r1 = client.callerLeaves() && seesFrames() ? 1 : 0;
        }

        @Actor
        public void publishes(III_Result seen) {
            seen.r3 = publish();
        }
    }

    /** A planted bug: {@link Frames} without the fences. Every processor moves a load before an earlier store. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "It sees the frame, is rung, or both.")
    @Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "The bug: it sleeps beside a frame.")
    @State
    public static class PlantedNoFence extends Words {
        @Actor
        public void sleeps(II_Result seen) {
            PipeLayout.asleep(memory, Side.CLIENT, true);
            seen.r1 = seesFrames() ? 1 : 0;
        }

        @Actor
        public void publishes(II_Result seen) {
            PipeLayout.tail(memory, Side.SERVER, BYTES);
            seen.r2 = PipeLayout.claimRing(memory, Side.CLIENT) ? 1 : 0;
        }
    }
}
