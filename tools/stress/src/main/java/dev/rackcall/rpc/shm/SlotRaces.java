package dev.rackcall.rpc.shm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Races of publishing requests and responses, and of falling asleep and waking up. */
public final class SlotRaces {
    private static final long TICKET = 41;
    private static final long WORD = SlotLayout.word(TICKET, 3, SlotLayout.OUTSIDE, 24);
    private static final long VALUE = 0x5261636b63616c6cL;

    private static final int WORDS = 3;
    private static final int CONTROL_BYTES = 2048;

    private SlotRaces() {}

    private static MemorySegment create() {
        return MemorySegment.ofArray(new long[SlotLayout.BYTES / Long.BYTES]);
    }

    /** As much of the control region as races need. */
    private static MemorySegment control() {
        return MemorySegment.ofArray(new long[CONTROL_BYTES / Long.BYTES]);
    }

    /** Plain stores, as by a payload writer. */
    private static void fill(MemorySegment slot, long offset) {
        for (int i = 0; i < WORDS; i++) {
            slot.set(JAVA_LONG, offset + (long) i * Long.BYTES, VALUE);
        }
    }

    private static boolean isFull(MemorySegment slot, long offset) {
        boolean full = true;
        for (int i = 0; i < WORDS; i++) {
            full &= slot.get(JAVA_LONG, offset + (long) i * Long.BYTES) == VALUE;
        }
        return full;
    }

    private static boolean isWholeResponse(MemorySegment slot) {
        return SlotLayout.responseLength(slot, 0) == VALUE
                && SlotLayout.responseRef(slot, 0) == VALUE
                && isFull(slot, SlotLayout.RESPONSE_INLINE);
    }

    /** As a caller does before it sleeps; returns whether it sees the response. */
    private static int goToSleep(MemorySegment control, MemorySegment slot) {
        ControlLayout.fallAsleep(control, 0);
        return SlotLayout.isOf(SlotLayout.responseWord(slot, 0), TICKET) ? 1 : 0;
    }

    /** A server that sees a request's word sees the whole request. */
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "No request yet.")
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "A whole request.")
    @Outcome(expect = FORBIDDEN, desc = "A word in front of an older request.")
    @State
    public static class Request {
        private final MemorySegment slot = create();

        @Actor
        public void client() {
            fill(slot, SlotLayout.REQUEST_INLINE);
            SlotLayout.requestOutside(slot, 0, VALUE, VALUE);
            SlotLayout.requestDeadline(slot, 0, VALUE);
            SlotLayout.publishRequest(slot, 0, WORD);
        }

        @Actor
        public void server(I_Result seen) {
            if (SlotLayout.isOf(SlotLayout.requestWord(slot, 0), TICKET)) {
                boolean whole = SlotLayout.requestLength(slot, 0) == VALUE
                        && SlotLayout.requestRef(slot, 0) == VALUE
                        && SlotLayout.requestDeadline(slot, 0) == VALUE
                        && isFull(slot, SlotLayout.REQUEST_INLINE);
                seen.r1 = whole ? 1 : -1;
            }
        }
    }

    /** A caller that sees a response's word sees the whole response. */
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "No response yet.")
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "A whole response.")
    @Outcome(expect = FORBIDDEN, desc = "A word in front of an older response.")
    @State
    public static class Response {
        private final MemorySegment slot = create();

        @Actor
        public void server() {
            fill(slot, SlotLayout.RESPONSE_INLINE);
            SlotLayout.responseOutside(slot, 0, VALUE, VALUE);
            SlotLayout.publishResponse(slot, 0, WORD);
        }

        @Actor
        public void caller(I_Result seen) {
            if (SlotLayout.isOf(SlotLayout.responseWord(slot, 0), TICKET)) {
                seen.r1 = isWholeResponse(slot) ? 1 : -1;
            }
        }
    }

    /**
     * A planted bug: {@link Response} with plain stores and loads of the word. x86 processors keep the order of stores
     * and of loads, so only the compiler can expose the bug there; other processors reorder them, too.
     */
    @JCStressTest
    @Outcome(id = "0|1", expect = ACCEPTABLE, desc = "As if it were right.")
    @Outcome(id = "-1", expect = ACCEPTABLE_INTERESTING, desc = "The bug: a word in front of an older response.")
    @State
    public static class PlantedPlainWord {
        private final MemorySegment slot = create();

        @Actor
        public void server() {
            fill(slot, SlotLayout.RESPONSE_INLINE);
            SlotLayout.responseOutside(slot, 0, VALUE, VALUE);
            slot.set(JAVA_LONG, SlotLayout.RESPONSE_WORD, WORD);
        }

        @Actor
        public void caller(I_Result seen) {
            if (SlotLayout.isOf(slot.get(JAVA_LONG, SlotLayout.RESPONSE_WORD), TICKET)) {
                seen.r1 = isWholeResponse(slot) ? 1 : -1;
            }
        }
    }

    /** A caller that goes to sleep either finds its response or is found by the server that published it. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "One of the two has seen the other.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "A caller sleeps and is not woken.")
    @State
    public static class Wake {
        private final MemorySegment control = control();
        private final MemorySegment slot = create();

        @Actor
        public void caller(II_Result seen) {
            seen.r1 = goToSleep(control, slot);
        }

        /** As a server does after it has answered. */
        @Actor
        public void server(II_Result seen) {
            SlotLayout.publishResponse(slot, 0, WORD);
            VarHandle.fullFence();
            seen.r2 = (int) ControlLayout.asleep(control, 0);
        }
    }

    /**
     * A planted bug: {@link Wake} without the server's fence. Every processor moves a load before an earlier store.
     */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "One of the two has seen the other.")
    @Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "A caller sleeps and is not woken.")
    @State
    public static class PlantedNoFence {
        private final MemorySegment control = control();
        private final MemorySegment slot = create();

        @Actor
        public void caller(II_Result seen) {
            seen.r1 = goToSleep(control, slot);
        }

        /** As a server does after it has answered. */
        @Actor
        public void server(II_Result seen) {
            SlotLayout.publishResponse(slot, 0, WORD);
            seen.r2 = (int) ControlLayout.asleep(control, 0);
        }
    }

    /** A server that stops watching a connection either finds the request or is rung by the client that published it. */
    @JCStressTest
    @Outcome(id = "0, 0|0, 1|1, 1", expect = ACCEPTABLE, desc = "The client rings, or the server has seen the request.")
    @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "A request that is not polled.")
    @State
    public static class Watch {
        private final MemorySegment control = control();
        private final MemorySegment slot = create();

        /** Makes a connection that is watched. */
        public Watch() {
            ControlLayout.watched(control, true);
        }

        /** As a client does; what it sees: whether it is watched, and so need not ring. */
        @Actor
        public void client(II_Result seen) {
            SlotLayout.publishRequest(slot, 0, WORD);
            VarHandle.fullFence();
            seen.r1 = ControlLayout.isWatched(control) ? 1 : 0;
        }

        /** As a poller does before it sleeps; what it sees: whether there is a request. */
        @Actor
        public void server(II_Result seen) {
            ControlLayout.watched(control, false);
            VarHandle.fullFence();
            seen.r2 = SlotLayout.isOf(SlotLayout.requestWord(slot, 0), TICKET) ? 1 : 0;
        }
    }

    /** A planted bug: {@link Watch} without the client's fence. Every processor moves a load before an earlier store. */
    @JCStressTest
    @Outcome(id = "0, 0|0, 1|1, 1", expect = ACCEPTABLE, desc = "As if it were right.")
    @Outcome(id = "1, 0", expect = ACCEPTABLE_INTERESTING, desc = "The bug: a request that is not polled.")
    @State
    public static class PlantedWatchNoFence {
        private final MemorySegment control = control();
        private final MemorySegment slot = create();

        /** Makes a connection that is watched. */
        public PlantedWatchNoFence() {
            ControlLayout.watched(control, true);
        }

        /** As in {@link Watch}. */
        @Actor
        public void client(II_Result seen) {
            SlotLayout.publishRequest(slot, 0, WORD);
            seen.r1 = ControlLayout.isWatched(control) ? 1 : 0;
        }

        /** As in {@link Watch}. */
        @Actor
        public void server(II_Result seen) {
            ControlLayout.watched(control, false);
            VarHandle.fullFence();
            seen.r2 = SlotLayout.isOf(SlotLayout.requestWord(slot, 0), TICKET) ? 1 : 0;
        }
    }

    /**
     * A server that stops watching a connection whose laps have just become wide finds the first request of the wide laps,
     * or is rung: the thread that sends it may be faster than the one that says so.
     */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "The client rings, or the server has seen the request.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "A request that is not polled.")
    @State
    public static class Lap {
        private static final int ALL_SLOTS = 64;

        private final MemorySegment control = control();
        private final MemorySegment narrow = create();
        private final MemorySegment wide = create();

        /** Makes a connection that is watched and whose laps are narrow. */
        public Lap() {
            ControlLayout.watched(control, true);
            ControlLayout.narrowFrom(control, 0);
        }

        /** What it sees: whether it has to ring. */
        @Actor
        public void client(II_Result seen) {
            SlotLayout.publishRequest(wide, 0, WORD);
            VarHandle.fullFence();
            boolean watched = ControlLayout.isWatched(control);
            ControlLayout.wideFrom(control, TICKET);
            VarHandle.fullFence();
            seen.r1 = watched && ControlLayout.isWatched(control) ? 0 : 1;
        }

        /** As a poller does before it sleeps; what it sees: whether there is a request. */
        @Actor
        public void server(II_Result seen) {
            ControlLayout.watched(control, false);
            VarHandle.fullFence();
            boolean isWide = ControlLayout.lap(control, TICKET, ALL_SLOTS) == ALL_SLOTS;
            seen.r2 = count(isWide ? wide : narrow);
        }
    }

    private static boolean publishAndRing(MemorySegment control, MemorySegment slot) {
        SlotLayout.publishRequest(slot, 0, WORD);
        VarHandle.fullFence();
        return ControlLayout.mustRing(control);
    }

    private static int count(MemorySegment slot) {
        return SlotLayout.isOf(SlotLayout.requestWord(slot, 0), TICKET) ? 1 : 0;
    }

    /** Of two clients that find a server asleep exactly one rings, and that covers the requests of both. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, .", "0, 1, .", "0, 0, 2"},
            expect = ACCEPTABLE,
            desc = "One of them rings, or the server has seen both requests.")
    @Outcome(expect = FORBIDDEN, desc = "A request that is not polled, or two rings.")
    @State
    public static class Ring {
        private final MemorySegment control = control();
        private final MemorySegment first = create();
        private final MemorySegment second = create();

        /** Makes a connection that is watched. */
        public Ring() {
            ControlLayout.watched(control, true);
        }

        /** What it sees: whether it has to ring. */
        @Actor
        public void oneClient(III_Result seen) {
            seen.r1 = publishAndRing(control, first) ? 1 : 0;
        }

        /** What it sees: whether it has to ring. */
        @Actor
        public void otherClient(III_Result seen) {
            seen.r2 = publishAndRing(control, second) ? 1 : 0;
        }

        /** As a poller does before it sleeps; what it sees: the number of requests. */
        @Actor
        public void server(III_Result seen) {
            ControlLayout.watched(control, false);
            VarHandle.fullFence();
            seen.r3 = count(first) + count(second);
        }
    }

    /** As {@link Ring}, of two clients only, so that it runs on two processors: the server sleeps already. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 2", "0, 1, 2"},
            expect = ACCEPTABLE,
            desc = "One of them rings, and the server that it wakes sees both requests.")
    @Outcome(expect = FORBIDDEN, desc = "No ring, two rings, or a request that the ring does not cover.")
    @State
    public static class RingAsleep {
        private final MemorySegment control = control();
        private final MemorySegment first = create();
        private final MemorySegment second = create();

        /** What it sees: whether it has to ring. */
        @Actor
        public void oneClient(III_Result seen) {
            seen.r1 = publishAndRing(control, first) ? 1 : 0;
        }

        /** What it sees: whether it has to ring. */
        @Actor
        public void otherClient(III_Result seen) {
            seen.r2 = publishAndRing(control, second) ? 1 : 0;
        }

        /** As a poller that was rung; what it sees: the number of requests. */
        @Arbiter
        public void server(III_Result seen) {
            ControlLayout.watched(control, true);
            seen.r3 = count(first) + count(second);
        }
    }

    /** As {@link Ring}, of one client with two requests, so that it runs on two processors: the server falls asleep. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, .", "0, 1, [12]", "0, 0, 2"},
            expect = ACCEPTABLE,
            desc = "One ring, for the requests that the server has not seen.")
    @Outcome(expect = FORBIDDEN, desc = "A request that is not polled, or two rings.")
    @State
    public static class RingTwice {
        private final MemorySegment control = control();
        private final MemorySegment first = create();
        private final MemorySegment second = create();

        /** Makes a connection that is watched. */
        public RingTwice() {
            ControlLayout.watched(control, true);
        }

        /** What it sees: whether it has to ring for the first request, and for the second. */
        @Actor
        public void client(III_Result seen) {
            seen.r1 = publishAndRing(control, first) ? 1 : 0;
            seen.r2 = publishAndRing(control, second) ? 1 : 0;
        }

        /** As a poller before it sleeps; what it sees: the number of requests. */
        @Actor
        public void server(III_Result seen) {
            ControlLayout.watched(control, false);
            VarHandle.fullFence();
            seen.r3 = count(first) + count(second);
        }
    }
}
