package dev.rackcall.lock;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Two local threads take a lock one after the other, and each sees what the other did. */
@JCStressTest
@Outcome(
        id = {"1, 2, 1", "2, 1, 1"},
        expect = ACCEPTABLE,
        desc = "One after the other, and the lock is free in the end.")
@Outcome(expect = FORBIDDEN, desc = "Both at a time, or a lock that is not free in the end.")
@State
public class LocalQueueStress {
    private final Locks.Counting threads = Locks.create().counting(false);

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
