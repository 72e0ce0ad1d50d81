package dev.rackcall.lock;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * A planted bug: {@link TwoCohortsStress} whose heads look at the other's tail before their own is there for all. Every
 * processor moves a load before an earlier store.
 */
@JCStressTest
@Outcome(
        id = {"1, 2, 1", "2, 1, 1"},
        expect = ACCEPTABLE,
        desc = "One after the other, and the lock is free in the end.")
@Outcome(expect = ACCEPTABLE_INTERESTING, desc = "Both at a time, or a lock that is not free in the end.")
@State
public class PlantedUnfencedTailStress {
    private final Locks.Counting threads = Locks.withoutFence().counting(true);

    @Actor
    public void one(III_Result result) {
        result.r1 = threads.one();
    }

    @Actor
    public void other(III_Result result) {
        result.r2 = threads.other();
    }

    @Arbiter
    public void free(III_Result result) {
        result.r3 = threads.areFree();
    }
}
