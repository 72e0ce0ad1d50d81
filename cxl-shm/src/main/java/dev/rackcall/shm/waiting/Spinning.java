package dev.rackcall.shm.waiting;

import dev.rackcall.shm.os.Affinity;

/**
 * The spinning phase of one wait. The waiting thread checks its condition, pauses, and calls {@link #goesOn} about once
 * a microsecond. When that returns false, the thread sleeps. Reusable, confined to the waiting thread.
 *
 * <p>Spinning helps only while the peer runs on another processor. A thread that may be on the peer's processor yields
 * instead of pausing, unless yields were long lately. A thread that was off its processor for {@link #PREEMPTED_NANOS}
 * stops spinning: other threads want the processor, and a thread that sleeps gets it back sooner than one that has used
 * up its share.
 */
public final class Spinning {
    /** Two checks this far apart mean that another thread had the processor in between. */
    private static final long PREEMPTED_NANOS = 20_000;

    /** A peer on the only processor cannot run while this thread spins. */
    private static final boolean ONE_PROCESSOR = Affinity.ofProcess().length == 1;

    private final WaitStrategy strategy;
    private final SpinTime time;

    private long start;
    private long last;
    private long bound;
    private boolean preempted;

    /** @param time how long to spin, learned from such waits; shared by all threads that wait for the same peer */
    public Spinning(WaitStrategy strategy, SpinTime time) {
        this.strategy = strategy;
        this.time = time;
    }

    /** Starts the spinning phase of a new wait. */
    public Spinning begin() {
        start = System.nanoTime();
        last = start;
        bound = time.next();
        preempted = false;
        return this;
    }

    /**
     * Whether to check again rather than to sleep.
     *
     * @param shared whether the peer may need this thread's processor
     */
    public boolean goesOn(boolean shared) {
        if (strategy != WaitStrategy.ADAPTIVE) {
            return strategy == WaitStrategy.BUSY_SPIN;
        }
        long now = System.nanoTime();
        preempted |= now - last > PREEMPTED_NANOS;
        if (preempted || now - start >= bound) {
            return false;
        }
        last = now;
        return !(shared || ONE_PROCESSOR) || yields(now);
    }

    /** A virtual thread that yields only lets other virtual threads run, so it had better park. */
    private static boolean yields(long now) {
        return !Thread.currentThread().isVirtual() && Yielding.offer(now);
    }

    /** Lets a thread run that may have been woken on this thread's processor, unless yields are dear just now. */
    public void offer() {
        if (strategy == WaitStrategy.ADAPTIVE) {
            Yielding.offer(last);
        }
    }

    /** When the wait began, by {@link System#nanoTime}. */
    public long start() {
        return start;
    }

    /** Records that the wait ended while the thread was spinning. */
    public void met() {
        if (strategy == WaitStrategy.ADAPTIVE && !preempted) {
            time.met(last - start);
        }
    }

    /** Records that the wait ended while the thread was sleeping. */
    public void slept() {
        if (strategy == WaitStrategy.ADAPTIVE && !preempted) {
            time.slept(System.nanoTime() - start);
        }
    }
}
