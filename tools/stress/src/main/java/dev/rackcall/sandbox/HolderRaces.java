package dev.rackcall.sandbox;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Races of the requests to a holder of seals: publishing, falling asleep and waking up. */
public final class HolderRaces {
    private static final int NUMBER = 1;
    private static final int COUNT = 7;
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private HolderRaces() {}

    /** As much of an area as races need. */
    private static MemorySegment area() {
        return MemorySegment.ofArray(new long[16]);
    }

    /** As a side does before it sleeps; returns whether it sees the number. */
    private static int goToSleep(MemorySegment own, MemorySegment peer) {
        HolderLayout.fallAsleep(own);
        return HolderLayout.number(peer) == NUMBER ? 1 : 0;
    }

    /** A holder that sees a request's number sees the request. */
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "No request yet.")
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "A whole request.")
    @Outcome(expect = FORBIDDEN, desc = "A number in front of an older request.")
    @State
    public static class Request {
        private final MemorySegment requests = area();
        private final MemorySegment answers = area();

        @Actor
        public void process() {
            HolderLayout.request(requests, HolderLayout.RENEW, COUNT);
            HolderLayout.publish(requests, answers, NUMBER);
        }

        @Actor
        public void holder(I_Result seen) {
            if (HolderLayout.number(requests) == NUMBER) {
                boolean whole =
                        HolderLayout.op(requests) == HolderLayout.RENEW && HolderLayout.count(requests) == COUNT;
                seen.r1 = whole ? 1 : -1;
            }
        }
    }

    /** A side that goes to sleep either finds the other's number or is found by the other side. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "One of the two has seen the other.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "A side sleeps and is not woken.")
    @State
    public static class Wake {
        private final MemorySegment requests = area();
        private final MemorySegment answers = area();

        @Actor
        public void holder(II_Result seen) {
            seen.r1 = goToSleep(answers, requests);
        }

        @Actor
        public void process(II_Result seen) {
            seen.r2 = HolderLayout.publish(requests, answers, NUMBER) ? 1 : 0;
        }
    }

    /** A planted bug: {@link Wake} without the publisher's fence. Every processor moves a load before an earlier store. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "One of the two has seen the other.")
    @Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "The bug: a side sleeps and is not woken.")
    @State
    public static class PlantedNoFence {
        private final MemorySegment requests = area();
        private final MemorySegment answers = area();

        @Actor
        public void holder(II_Result seen) {
            seen.r1 = goToSleep(answers, requests);
        }

        @Actor
        public void process(II_Result seen) {
            INT.setRelease(requests, HolderLayout.NUMBER, NUMBER);
            seen.r2 = (int) INT.getOpaque(answers, HolderLayout.ASLEEP);
        }
    }
}
