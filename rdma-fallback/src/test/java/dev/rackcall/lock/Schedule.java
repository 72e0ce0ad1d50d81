package dev.rackcall.lock;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Runs one thread at a time; a seed decides which one, and which one dies where. */
final class Schedule {
    /** Unwinds a thread that has died. Its cleanup does not happen, since each of its steps throws again. */
    static final class Death extends Error {
        private static final long serialVersionUID = 1;

        Death() {
            super("killed by the schedule", null, false, false);
        }
    }

    /** What a thread does. */
    interface Work {
        void run() throws InterruptedException;
    }

    private static final int MAX_STEPS = 300_000;
    private static final long PATIENCE_SECONDS = 60;

    private final Random random;
    private final int deadlyOneIn;
    private final List<Thread> threads = new ArrayList<>();
    private final List<Integer> runnable = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private volatile int turn = -1;
    private int steps;
    private int deaths;
    private int mayDie;

    /** @param deadlyOneIn one step in this many kills its thread; 0: none */
    Schedule(long seed, int deadlyOneIn) {
        random = new Random(seed);
        this.deadlyOneIn = deadlyOneIn;
    }

    Random random() {
        return random;
    }

    int deaths() {
        return deaths;
    }

    /** This many of the threads added from now on may die. */
    void letDie(int count) {
        mayDie = count;
    }

    void add(Work work, Runnable onDeath) {
        int number = threads.size();
        runnable.add(number);
        threads.add(new Thread(() -> {
            awaitTurn(number);
            try {
                work.run();
            } catch (Death death) {
                onDeath.run();
            } catch (Throwable failure) {
                failures.add(failure);
            } finally {
                runnable.remove(Integer.valueOf(number));
                if (!runnable.isEmpty()) {
                    give(runnable.get(random.nextInt(runnable.size())));
                }
            }
        }));
    }

    /** Runs all to their end. */
    void run() throws InterruptedException {
        threads.forEach(Thread::start);
        give(runnable.get(random.nextInt(runnable.size())));
        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
            if (thread.isAlive()) {
                throw new AssertionError("a scheduled thread does not end");
            }
        }
        if (!failures.isEmpty()) {
            AssertionError error = new AssertionError(failures.getFirst());
            failures.stream().skip(1).forEach(error::addSuppressed);
            throw error;
        }
    }

    /** Another thread may run; then the caller continues, or dies. */
    void step(Mortal mortal) {
        if (mortal.dead) {
            throw new Death();
        }
        if (!failures.isEmpty()) {
            throw new IllegalStateException("another thread has failed");
        }
        if (++steps > MAX_STEPS) {
            throw new AssertionError("no end after " + MAX_STEPS + " steps");
        }
        if (deadlyOneIn > 0 && mortal.canDie && mayDie > 0 && random.nextInt(deadlyOneIn) == 0) {
            mayDie--;
            deaths++;
            mortal.dead = true;
            throw new Death();
        }
        int self = turn;
        int next = runnable.get(random.nextInt(runnable.size()));
        if (next != self) {
            give(next);
            awaitTurn(self);
            if (mortal.dead) {
                // Another thread of the same process was killed in the meantime.
                throw new Death();
            }
        }
    }

    private void give(int next) {
        turn = next;
        LockSupport.unpark(threads.get(next));
    }

    private void awaitTurn(int self) {
        while (turn != self) {
            LockSupport.park(this);
        }
    }

    /** The life of a thread of the schedule, or of a process of several threads. */
    static final class Mortal {
        private final boolean canDie;
        private boolean dead;

        Mortal(boolean canDie) {
            this.canDie = canDie;
        }

        boolean isDead() {
            return dead;
        }
    }
}
