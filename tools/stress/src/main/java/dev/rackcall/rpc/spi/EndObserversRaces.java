package dev.rackcall.rpc.spi;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Status;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Races of the observers of a call: some are added while the call ends. */
public final class EndObserversRaces {
    private EndObserversRaces() {}

    /** One thread adds two observers while another ends the call. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Each is told of the end once.")
    @Outcome(expect = FORBIDDEN, desc = "An observer is not told of the end, or twice.")
    @State
    public static class Adding {
        private final EndObservers observers = new EndObservers();
        private final AtomicInteger first = new AtomicInteger();
        private final AtomicInteger second = new AtomicInteger();

        @Actor
        public void adds() {
            observers.add((_, _) -> first.incrementAndGet());
            observers.add((_, _) -> second.incrementAndGet());
        }

        @Actor
        public void ends() {
            observers.onEnd(Status.OK, Metadata.EMPTY);
        }

        @Arbiter
        public void end(II_Result told) {
            told.r1 = first.get();
            told.r2 = second.get();
        }
    }

    /** A planted bug: {@link Adding} with a check and a store in place of the compare-and-set. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Each is told of the end once.")
    @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "The bug: an observer is not told of the end, or twice.")
    @State
    public static class PlantedCheckThenStore {
        private final AtomicInteger first = new AtomicInteger();
        private final AtomicInteger second = new AtomicInteger();
        private volatile CallObserver observer = CallObserver.NONE;
        private volatile boolean ended;

        private void add(CallObserver added) {
            if (ended) {
                added.onEnd(Status.OK, Metadata.EMPTY);
            } else {
                observer = observer.and(added);
            }
        }

        @Actor
        public void adds() {
            add((_, _) -> first.incrementAndGet());
            add((_, _) -> second.incrementAndGet());
        }

        @Actor
        public void ends() {
            ended = true;
            observer.onEnd(Status.OK, Metadata.EMPTY);
        }

        @Arbiter
        public void end(II_Result told) {
            told.r1 = first.get();
            told.r2 = second.get();
        }
    }
}
