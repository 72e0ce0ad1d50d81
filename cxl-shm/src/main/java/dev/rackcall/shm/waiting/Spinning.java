package dev.rackcall.shm.waiting;

import dev.rackcall.shm.os.Affinity;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The spinning phase of one wait. The waiting thread checks its condition, pauses, and calls {@link #goesOn} about once
 * a microsecond. When that returns false, the thread sleeps. Reusable, confined to the waiting thread.
 *
 * <p>Spinning helps only while the peer runs on another processor. A thread that may be on the peer's processor yields
 * instead of pausing, unless yields were long lately. So does every platform thread of a process in which
 * a thread {@linkplain #pollsForOthers polls for other processes}. A thread that was off its processor stops
 * spinning: other threads want the processor, and a thread that sleeps gets it back sooner than one that has used up
 * its share. The next waits then spin less for a while.
 */
public final class Spinning {
    /** A peer on the only processor cannot run while this thread spins. */
    private static final boolean ONE_PROCESSOR = Affinity.ofProcess().length == 1;

    /**
     * How many threads of this process poll for other processes now. A hint that publishes nothing: no thread's sleep
     * or wake-up depends on it.
     */
    private static final AtomicInteger POLLING = new AtomicInteger();

    private final WaitStrategy strategy;
    private final SpinTime time;

    private long start;
    private long last;
    private long bound;
    /** The part of the wait in which other threads ran because this one had yielded. */
    private long away;

    private boolean preempted;
    private boolean yielded;

    /** @param time how long to spin, learned from such waits; shared by all threads that wait for the same peer */
    public Spinning(WaitStrategy strategy, SpinTime time) {
        this.strategy = strategy;
        this.time = time;
    }

    /**
     * Counts the calling thread among those that poll a device for other processes, or no longer. Such a thread calls
     * this with true when it begins, and with false before it sleeps or ends. In between, the process's other spinning
     * platform threads yield between their checks. A call may need the polling thread, one of these and a caller in
     * another process, one after the other, and the machine may have fewer than three processors.
     */
    public static void pollsForOthers(boolean now) {
        POLLING.addAndGet(now ? 1 : -1);
    }

    /** Whether a thread of this process polls for other processes. */
    public static boolean isBesidePolling() {
        return POLLING.get() > 0;
    }

    /** Starts the spinning phase of a new wait. */
    public Spinning begin() {
        start = System.nanoTime();
        last = start;
        bound = time.next();
        away = 0;
        preempted = false;
        yielded = false;
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
        return isWorth(now) && (!(shared || ONE_PROCESSOR || yieldsToPolling()) || yields(now));
    }

    /**
     * As {@link #goesOn}, for an adaptive thread that shares its processor with its peer. It yields however long its
     * last yields were: the peer has said that yields pay, and threads that yield lose to threads that sleep instead.
     */
    public boolean goesOnTogether() {
        long now = System.nanoTime();
        if (Thread.currentThread().isVirtual() || !isWorth(now)) {
            return false;
        }
        yielded(now, Yielding.giveWay(now));
        return true;
    }

    private boolean isWorth(long now) {
        if (now - last > time.longestStep() && !preempted) {
            preempted = true;
            time.preempted(last, now);
            WaitCounts.add(WaitCounts.Kind.PREEMPTED);
        }
        last = now;
        return !preempted && spun() < bound;
    }

    /** A virtual thread pauses all the same, since its yield would not let the polling thread run. */
    private static boolean yieldsToPolling() {
        return isBesidePolling() && !Thread.currentThread().isVirtual();
    }

    /** A virtual thread that yields only lets other virtual threads run, so it had better park. */
    private boolean yields(long now) {
        if (Thread.currentThread().isVirtual()) {
            return false;
        }
        long others = Yielding.offer(now);
        if (others == Yielding.NOT) {
            return false;
        }
        yielded(now, others);
        return true;
    }

    private void yielded(long now, long others) {
        WaitCounts.add(WaitCounts.Kind.YIELDED);
        yielded = true;
        away += others;
        last = now + others;
    }

    /** Whether the yields of this process's threads have been short lately. */
    public boolean yieldsPay() {
        return Yielding.pays(last);
    }

    private long spun() {
        return last - start - away;
    }

    /** Whether every peer shares this process's only processor. */
    public static boolean alwaysShares() {
        return ONE_PROCESSOR;
    }

    /** Lets a thread run that may have been woken on this thread's processor, unless yields are dear just now. */
    public void offer() {
        if (strategy == WaitStrategy.ADAPTIVE) {
            Yielding.offer(last);
        }
    }

    /** Whether spinning ended because another thread had taken this one's processor. */
    public boolean wasPreempted() {
        return preempted;
    }

    /** Whether the thread has yielded since the wait began. */
    public boolean hasYielded() {
        return yielded;
    }

    /** When the wait began, by {@link System#nanoTime}. */
    public long start() {
        return start;
    }

    /** The last reading of the clock while it was spinning, yields included. */
    public long spunUntil() {
        return last;
    }

    /** Records that the wait ended while the thread was spinning. */
    public void met() {
        if (strategy == WaitStrategy.ADAPTIVE && !preempted) {
            time.met(spun());
        }
    }

    /** Records that the wait ended while the thread was sleeping. */
    public void slept() {
        if (strategy == WaitStrategy.ADAPTIVE && !preempted) {
            time.slept(System.nanoTime() - start);
        }
    }
}
