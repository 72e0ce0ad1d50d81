package dev.rackcall.lock;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** Races of ALock. */
public final class LockRaces {
    private LockRaces() {}

    /** Two local threads take a lock one after the other, and each sees what the other did. */
    @JCStressTest
    @Outcome(
            id = "1, 2, 1|2, 1, 1",
            expect = ACCEPTABLE,
            desc = "One after the other, and the lock is free in the end.")
    @Outcome(expect = FORBIDDEN, desc = "Both at a time, or a lock that is not free in the end.")
    @State
    public static class LocalQueue {
        private final Locks.Counting threads = new Locks.Counting(Locks.create(), false);

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

    /** The heads of two cohorts take a lock one after the other, though they compare and set no common word. */
    @JCStressTest
    @Outcome(
            id = "1, 2, 1|2, 1, 1",
            expect = ACCEPTABLE,
            desc = "One after the other, and the lock is free in the end.")
    @Outcome(expect = FORBIDDEN, desc = "Both at a time, or a lock that is not free in the end.")
    @State
    public static class TwoCohorts {
        private final Locks.Counting threads = new Locks.Counting(Locks.create(), true);

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

    /**
     * A planted bug: {@link TwoCohorts} whose heads look at the other's tail before their own is visible. Every
     * processor moves a load before an earlier store.
     */
    @JCStressTest
    @Outcome(
            id = "1, 2, 1|2, 1, 1",
            expect = ACCEPTABLE,
            desc = "One after the other, and the lock is free in the end.")
    @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "Both at a time, or a lock that is not free in the end.")
    @State
    public static class PlantedUnfencedTail {
        private final Locks.Counting threads = new Locks.Counting(Locks.withoutFence(), true);

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

    /** A reader sees none or all of the changes of an exclusive owner of the other cohort. */
    @JCStressTest
    @Outcome(id = "0, 0, 1|1, 1, 1", expect = ACCEPTABLE, desc = "It read before or after.")
    @Outcome(expect = FORBIDDEN, desc = "It read meanwhile, or the lock is not free in the end.")
    @State
    public static class Reader {
        private final Locks locks = Locks.create();
        private final Locks.Locker writer = locks.locker(false, 1);
        private final Locks.Locker reader = locks.locker(true, 1);
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

    /** A waiter gives up while the holder hands over: either it has the lock, or it is skipped; nothing is left behind. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 1", expect = ACCEPTABLE, desc = "It gave up in time, or it has the lock.")
    @Outcome(expect = FORBIDDEN, desc = "A queue that is not empty in the end.")
    @State
    public static class GiveUp {
        private final Locks locks = Locks.create();
        private final Locks.Locker holder = locks.locker(false, 1);
        private final Locks.Locker waiter = locks.locker(false, 2);
        private boolean had;

        /** Makes a lock that is held. */
        public GiveUp() {
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
}
