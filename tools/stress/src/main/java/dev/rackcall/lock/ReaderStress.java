package dev.rackcall.lock;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** A reader sees none or all of the changes of an exclusive owner of the other cohort. */
@JCStressTest
@Outcome(
        id = {"0, 0, 1", "1, 1, 1"},
        expect = ACCEPTABLE,
        desc = "It read before or after.")
@Outcome(expect = FORBIDDEN, desc = "It read meanwhile, or the lock is not free in the end.")
@State
public class ReaderStress {
    private final Locks locks = Locks.create();
    private final Locks.Person writer = locks.person(false, 1);
    private final Locks.Person reader = locks.person(true, 1);
    private int first;
    private int second;

    @Actor
    public void write() {
        writer.lockAlone();
        first = 1;
        second = 1;
        writer.unlock();
    }

    @Actor
    public void read(III_Result result) {
        reader.read();
        result.r2 = second;
        result.r1 = first;
        reader.readNoMore();
    }

    @Arbiter
    public void free(III_Result result) {
        result.r3 = locks.areFree(writer, reader);
    }
}
