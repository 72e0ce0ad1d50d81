package dev.rackcall.rpc.shm.client;

import dev.rackcall.shm.os.Futex;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** One bounded wait that follows a {@link WaitStrategy}. Made once a wait takes longer than nanoseconds. */
final class SpinWait {
    private static final int SPINS_PER_CLOCK = 1024;
    /** Longest single sleep: bounds the cost of a lost wake-up, or of a peer that sends no wake-up. */
    private static final long MAX_SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final long BACK_OFF_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    private final boolean sleeps;
    private final long end;
    private int spins;
    private int yields;

    /**
     * @param deadline nanoTime at which to give up; 0: {@code defaultNanos} from now
     */
    SpinWait(WaitStrategy strategy, long deadline, long defaultNanos) {
        this.sleeps = strategy.sleeps();
        this.spins = strategy.spins();
        this.yields = strategy.yields();
        this.end = deadline != 0 ? deadline : System.nanoTime() + defaultNanos;
    }

    /** Whether spinning and yielding are used up, so that the thread should sleep. */
    boolean maySleep() {
        return sleeps && spins <= 0 && yields <= 0;
    }

    /**
     * One step: a pause, a yield, or a nap for threads that have nothing to sleep on. Returns false once the bound has
     * passed.
     */
    boolean once() {
        if (spins > 0) {
            Thread.onSpinWait();
            spins--;
            if (spins == 0 && !sleeps) {
                spins = Integer.MAX_VALUE;
            }
            return spins % SPINS_PER_CLOCK != 0 || inTime();
        }
        if (yields > 0) {
            yields--;
            Thread.yield();
            return inTime();
        }
        LockSupport.parkNanos(BACK_OFF_NANOS);
        return inTime();
    }

    /** Sleeps briefly while the word at {@code offset} is {@code seen}. Returns false once the bound has passed. */
    boolean sleep(MemorySegment memory, long offset, int seen) {
        Futex.await(memory, offset, seen, Math.clamp(remaining(), 1, MAX_SLEEP_NANOS));
        return inTime();
    }

    /** Parks the calling thread briefly. Returns false once the bound has passed. */
    boolean park() {
        LockSupport.parkNanos(Math.clamp(remaining(), 1, MAX_SLEEP_NANOS));
        return inTime();
    }

    private long remaining() {
        return end - System.nanoTime();
    }

    private boolean inTime() {
        return remaining() > 0;
    }
}
