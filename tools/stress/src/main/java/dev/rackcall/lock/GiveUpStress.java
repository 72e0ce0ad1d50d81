package dev.rackcall.lock;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A waiter gives up while the holder hands over: either it has the lock, or it is skipped; nothing is left behind. */
@JCStressTest
@Outcome(
        id = {"0, 1", "1, 1"},
        expect = ACCEPTABLE,
        desc = "It gave up in time, or it has the lock.")
@Outcome(expect = FORBIDDEN, desc = "A queue that is not empty in the end.")
@State
public class GiveUpStress {
    private final Locks locks = Locks.create();
    private final Locks.Person holder = locks.person(false, 1);
    private final Locks.Person waiter = locks.person(false, 2);
    private boolean had;

    /** Makes a lock that is held. */
    public GiveUpStress() {
        holder.lock();
    }

    @Actor
    public void unlock() {
        holder.unlock();
    }

    @Actor
    public void giveUp(II_Result result) {
        had = waiter.lockSoon();
        result.r1 = had ? 1 : 0;
    }

    @Arbiter
    public void free(II_Result result) {
        if (had) {
            waiter.unlock();
        }
        result.r2 = locks.areFree(waiter, holder);
    }
}
