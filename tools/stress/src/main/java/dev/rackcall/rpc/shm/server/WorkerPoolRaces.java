package dev.rackcall.rpc.shm.server;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.rackcall.shm.waiting.WaitStrategy;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Races of a worker, which goes to sleep, with a thread that queues entries. The pool's threads are not started. */
public final class WorkerPoolRaces {
    private static final int CAPACITY = 2;
    private static final Integer ENTRY = 1;

    private WorkerPoolRaces() {}

    private static WorkerPool<Integer> pool(int workers) {
        return new WorkerPool<>(workers, CAPACITY, WaitStrategy.blocking(), 1, _ -> {}, _ -> {});
    }

    /** A worker that goes to sleep finds the entry or is woken. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "It finds the entry, is woken, or both.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "It sleeps beside an entry.")
    @State
    public static class WorkerSleeps {
        private final WorkerPool<Integer> pool = pool(1);
        private final WorkerPool<Integer>.Worker worker = pool.workers.getFirst();

        @Actor
        public void worker(II_Result seen) {
            seen.r1 = worker.fallAsleep() != null ? 1 : 0;
        }

        @Actor
        public void queues() {
            pool.offer(ENTRY);
        }

        @Arbiter
        public void end(II_Result seen) {
            seen.r2 = worker.stopsSleeping() ? 0 : 1;
        }
    }

    /** Two workers: the second one sleeps, and the first one finds an entry as it goes to sleep. */
    static class Two {
        final WorkerPool<Integer> pool = pool(2);
        final WorkerPool<Integer>.Worker first = pool.workers.getFirst();
        final WorkerPool<Integer>.Worker second = pool.workers.getLast();

        Two() {
            second.fallAsleep();
            // Not through the pool, which would wake the second worker.
            pool.queue.offer(ENTRY);
        }
    }

    /** A worker that finds an entry by itself passes on the wake-up for another one. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "The other worker is awake.")
    @Outcome(id = "0", expect = FORBIDDEN, desc = "The other worker sleeps beside an entry.")
    @State
    public static class WakeUpIsPassedOn extends Two {
        @Actor
        public void worker() {
            first.wakeUp(first.fallAsleep());
        }

        @Actor
        public void queues() {
            pool.offer(ENTRY);
        }

        @Arbiter
        public void end(I_Result seen) {
            seen.r1 = second.stopsSleeping() ? 0 : 1;
        }
    }

    /** A planted bug: {@link WorkerSleeps} with a thread that looks for sleepers before it adds the entry. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "It finds the entry, is woken, or both.")
    @Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "The bug: it sleeps beside an entry.")
    @State
    public static class PlantedEarlyWake {
        private final WorkerPool<Integer> pool = pool(1);
        private final WorkerPool<Integer>.Worker worker = pool.workers.getFirst();

        @Actor
        public void worker(II_Result seen) {
            seen.r1 = worker.fallAsleep() != null ? 1 : 0;
        }

        @Actor
        public void queues() {
            worker.stopsSleeping();
            pool.queue.offer(ENTRY);
        }

        @Arbiter
        public void end(II_Result seen) {
            seen.r2 = worker.stopsSleeping() ? 0 : 1;
        }
    }

    /** A planted bug: {@link WakeUpIsPassedOn} with a worker that keeps a wake-up that it does not need. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "The other worker is awake.")
    @Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "The bug: the other worker sleeps beside an entry.")
    @State
    public static class PlantedKeptWakeUp extends Two {
        @Actor
        public void worker() {
            first.fallAsleep();
            first.stopsSleeping();
        }

        @Actor
        public void queues() {
            pool.offer(ENTRY);
        }

        @Arbiter
        public void end(I_Result seen) {
            seen.r1 = second.stopsSleeping() ? 0 : 1;
        }
    }
}
