package dev.rackcall.shm.alloc;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Lets one of several threads run at a time. A seed decides which, so that an interleaving can be repeated. */
final class Turns {
    private static final int SECONDS = 30;

    private final Random random;
    private final List<Semaphore> gates = new ArrayList<>();
    private final List<Integer> runnable = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile Throwable failure;

    Turns(Random random) {
        this.random = random;
    }

    interface Body {
        void run(Runnable step);
    }

    void add(Body body) {
        int me = gates.size();
        gates.add(new Semaphore(0));
        runnable.add(me);
        threads.add(Thread.ofPlatform().daemon().unstarted(() -> {
            await(me);
            try {
                body.run(() -> step(me));
            } catch (Killed expected) {
                // Other processes deal with its table entries now.
            } catch (Throwable t) {
                failure = failure == null ? t : failure;
            }
            runnable.remove(Integer.valueOf(me));
            if (!runnable.isEmpty()) {
                gates.get(next()).release();
            }
        }));
    }

    private int next() {
        return runnable.get(random.nextInt(runnable.size()));
    }

    private void step(int me) {
        int next = next();
        if (next != me) {
            gates.get(next).release();
            await(me);
        }
    }

    private void await(int me) {
        try {
            if (!gates.get(me).tryAcquire(SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("thread " + me + " waited " + SECONDS + " s for its turn");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Runs all to their end, then throws the first failure. */
    void run() throws Throwable {
        threads.forEach(Thread::start);
        gates.get(next()).release();
        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(2 * SECONDS));
            if (thread.isAlive()) {
                throw new AssertionError("a simulated process did not end");
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
