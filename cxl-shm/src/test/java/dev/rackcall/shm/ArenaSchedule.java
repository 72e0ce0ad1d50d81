package dev.rackcall.shm;

import dev.rackcall.shm.alloc.Killed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs processes as threads, one at a time. A seed decides which one runs for how many steps, which one pauses for long
 * between two of its steps as if it had lost its processor, and which one dies where.
 */
final class ArenaSchedule {
    /** What a process does. */
    interface Life {
        void live();
    }

    private static final int MAX_STEPS = 2_000_000;
    private static final int LONGEST_PAUSE = 12;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final Random random;
    private final int switchOneIn;
    private final int pauseOneIn;
    private final int deadlyOneIn;
    private final List<Thread> threads = new ArrayList<>();
    private final List<Integer> runnable = new ArrayList<>();
    private final List<Integer> ready = new ArrayList<>();
    private final long[] pausedUntil;
    private final boolean[] dead;
    private final Runnable look;
    private Throwable failure;
    private int mayDie;
    private int quiet;
    private long steps;
    private volatile int turn = -1;

    /** @param look checks what must hold at every moment */
    ArenaSchedule(Random random, int processes, int deaths, Runnable look) {
        this.look = look;
        this.random = random;
        this.switchOneIn = 1 << random.nextInt(7);
        this.pauseOneIn = 20 << random.nextInt(5);
        this.deadlyOneIn = 20 << random.nextInt(6);
        this.mayDie = deaths;
        this.pausedUntil = new long[processes];
        this.dead = new boolean[processes];
    }

    long steps() {
        return steps;
    }

    void add(Life life) {
        int number = threads.size();
        runnable.add(number);
        threads.add(Thread.ofVirtual().unstarted(() -> {
            awaitTurn(number);
            try {
                life.live();
            } catch (Throwable t) {
                failure = failure == null ? t : failure;
            } finally {
                runnable.remove(Integer.valueOf(number));
                if (!runnable.isEmpty()) {
                    give(next());
                }
            }
        }));
    }

    /** Runs all to their end, then throws the first failure. */
    void run() {
        threads.forEach(Thread::start);
        give(next());
        for (Thread thread : threads) {
            awaitEnd(thread);
        }
        switch (failure) {
            case null -> {}
            case Error error -> throw error;
            default -> throw new AssertionError(failure);
        }
    }

    private static void awaitEnd(Thread thread) {
        try {
            if (!thread.join(PATIENCE)) {
                throw new AssertionError("a scheduled process does not end");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Called before each access. */
    void step() {
        if (quiet > 0) {
            return;
        }
        atOnce(look);
        int self = turn;
        if (dead[self]) {
            throw new Killed();
        }
        if (failure != null) {
            throw new IllegalStateException("another process has failed");
        }
        if (++steps > MAX_STEPS) {
            throw new AssertionError("no end after " + MAX_STEPS + " steps");
        }
        if (mayDie > 0 && random.nextInt(deadlyOneIn) == 0) {
            mayDie--;
            dead[self] = true;
            throw new Killed();
        }
        if (random.nextInt(pauseOneIn) == 0) {
            pausedUntil[self] = steps + random.nextInt(1 << random.nextInt(1, LONGEST_PAUSE));
            goOnWith(next());
        } else if (random.nextInt(switchOneIn) == 0) {
            goOnWith(next());
        }
    }

    private void goOnWith(int next) {
        int self = turn;
        if (next != self) {
            give(next);
            awaitTurn(self);
        }
    }

    /** A process that is not paused; if all are, the one whose pause ends first. */
    private int next() {
        ready.clear();
        int first = runnable.getFirst();
        for (int number : runnable) {
            if (pausedUntil[number] <= steps) {
                ready.add(number);
            }
            first = pausedUntil[number] < pausedUntil[first] ? number : first;
        }
        return ready.isEmpty() ? first : ready.get(random.nextInt(ready.size()));
    }

    /** The process that runs now. */
    int turn() {
        return turn;
    }

    /** Lets others run, for a process that waits and cannot die there. */
    void pass() {
        goOnWith(next());
    }

    /** Starts a new process in place of a dead one. */
    void revive() {
        dead[turn] = false;
    }

    /** Runs {@code look} without interruption. */
    void atOnce(Runnable look) {
        quiet++;
        try {
            look.run();
        } finally {
            quiet--;
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
}
