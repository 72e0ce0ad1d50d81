package dev.rackcall.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Runs the code itself, one memory access at a time, in an order that a seed decides; threads give up and die. {@code
 * -Drackcall.schedules} sets the number of orders, {@code -Drackcall.seed} the seed. Its methods run two at a time:
 * each case uses one thread at a time and shares nothing.
 */
@Timeout(900)
class ScheduledLockTest {
    private static final int CASES = Integer.getInteger("rackcall.schedules", 120);

    /** How often finishers went to sleep. */
    private int sleeps;

    /** Returns the most readers that held a lock at a time. */
    private int explore(int cases, boolean givesUp, boolean reads, int deaths) throws InterruptedException {
        return explore(cases, givesUp, reads, deaths, ScheduledLockTest::addAlone);
    }

    /** Local and remote threads, each a process of its own. */
    private static void addAlone(ScheduledCase one, Random shape) {
        int locals = shape.nextInt(5);
        for (int owner = 1; owner <= 4; owner++) {
            boolean remote = owner > locals;
            one.add(owner, remote, 1 + shape.nextInt(2), remote && shape.nextInt(4) != 0);
        }
    }

    /** Local threads, and remote ones, most of which do not wait for their unlocks, of one process or two. */
    private static void addFinished(ScheduledCase one, Random shape) {
        int locals = shape.nextInt(3);
        List<ScheduledCase.OneProcess> processes = List.of(one.new OneProcess(), one.new OneProcess());
        for (int owner = 1; owner <= 4; owner++) {
            boolean remote = owner > locals;
            ScheduledCase.OneProcess process = remote ? processes.get(shape.nextInt(2)) : one.new OneProcess();
            one.add(
                    owner,
                    remote,
                    1 + shape.nextInt(2),
                    remote && shape.nextInt(4) != 0,
                    process,
                    remote && shape.nextInt(5) != 0);
        }
        processes.forEach(ScheduledCase.OneProcess::finish);
    }

    /** Threads of one process with little contention, so that most of their unlocks are open for a while. */
    private static void addApart(ScheduledCase one, Random shape) {
        one.keepApart();
        ScheduledCase.OneProcess process = one.new OneProcess();
        int threads = 2 + shape.nextInt(2);
        for (int owner = 1; owner <= threads; owner++) {
            one.add(owner, true, 1, false, process, true);
        }
        process.finish();
    }

    private int explore(int cases, boolean givesUp, boolean reads, int deaths, BiConsumer<ScheduledCase, Random> adding)
            throws InterruptedException {
        long first = Long.getLong("rackcall.seed", System.nanoTime());
        int readers = 0;
        for (int i = 0; i < cases; i++) {
            long seed = first + i;
            ScheduledCase one = new ScheduledCase(seed, givesUp, reads, deaths);
            adding.accept(one, new Random(seed));
            one.addKeepers(deaths == 0 ? 0 : 1);
            try {
                one.run();
                readers = Math.max(readers, one.readersAtMost());
                sleeps += one.sleeps();
            } catch (AssertionError error) {
                throw new AssertionError("case " + i + "; repeat with -Drackcall.seed=" + seed, error);
            }
        }
        return readers;
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldExcludeInAnyOrder() throws InterruptedException {
        explore(CASES, false, false, 0);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldStayWholeWhenWaitersGiveUp() throws InterruptedException {
        explore(CASES, true, false, 0);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldTakeTheDeadOutInAnyOrder() throws InterruptedException {
        explore(CASES, true, false, 3);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldExcludeInAnyOrderWhenUnlocksAreNotWaitedFor() throws InterruptedException {
        // Fewer: each takes ten times as long as a case with deaths.
        explore(CASES / 5, false, false, 0, ScheduledLockTest::addFinished);
        explore(CASES / 5, true, false, 0, ScheduledLockTest::addFinished);
        explore(CASES / 10, true, true, 0, ScheduledLockTest::addFinished);
        assertThat(sleeps).as("how often finishers went to sleep").isPositive();
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldNotSleepOrEndBesideAnOpenUnlock() throws InterruptedException {
        explore(CASES / 5, false, false, 0, ScheduledLockTest::addApart);
        assertThat(sleeps).as("how often finishers went to sleep").isGreaterThan(CASES);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldRecoverDeadThreadsWithOpenUnlocks() throws InterruptedException {
        explore(CASES, true, false, 3, ScheduledLockTest::addFinished);
        explore(CASES / 5, true, true, 3, ScheduledLockTest::addFinished);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldLetReadersInTogetherAndNoWriterBesideThem() throws InterruptedException {
        assertThat(explore(CASES / 5, false, true, 0)).as("readers at a time").isGreaterThan(1);
        explore(CASES / 5, true, true, 0);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldTakeDeadReadersOut() throws InterruptedException {
        explore(CASES / 5, true, true, 3);
    }
}
