package dev.rackcall.rdma.lock;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** A planted bug: {@link TwoCohortsStress} whose heads look at the other's tail before their own is there for all. Every processor moves a load before an earlier store. */
@JCStressTest
@Outcome(
        id = {"1, 2, 1", "2, 1, 1"},
        expect = ACCEPTABLE,
        desc = "One after the other, and the lock is free in the end.")
@Outcome(expect = ACCEPTABLE_INTERESTING, desc = "Both at a time, or a lock that is not free in the end.")
@State
public class PlantedUnfencedTailStress {
    private final Locks locks = Locks.withoutFence();
    private final Locks.Person one = locks.person(false, 1);
    private final Locks.Person other = locks.person(true, 2);
    private int counter;

    @Actor
    public void one(III_Result result) {
        result.r1 = count(one);
    }

    @Actor
    public void other(III_Result result) {
        result.r2 = count(other);
    }

    private int count(Locks.Person person) {
        person.lock();
        int count = counter + 1;
        counter = count;
        person.unlock();
        return count;
    }

    @Arbiter
    public void free(III_Result result) {
        result.r3 = locks.isFree(one) & locks.isFree(other);
    }
}
