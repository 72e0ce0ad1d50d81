package dev.rackcall.rpc.shm.protocol;

import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.shm.waiting.WaitCounts;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongToIntFunction;

/**
 * Counts wake-ups that never came. Every sleep has a bound, which hides a lost wake-up: the call is only late. Thread-safe.
 *
 * <p>A sleep counts if it lasted to its bound, what it waited for had happened, and no wake-up came within the {@linkplain
 * #grace grace} either. A caller's deadline, an interrupt and a wake-up end a sleep in other ways, and those never count.
 * A sleeper or reactor that was only waiting for a processor does not count either:
 *
 * <ul>
 *   <li>Each sleeper has a word that the waking thread changes first: a flag, the mark of a rung connection, or the ring
 *       in a socket. A futex has no such word. Its sleeper instead sleeps once more, on the word of the answer, and does not
 *       count if it was off its processor between the two sleeps.
 *   <li>A server that still polls the connection may be about to wake the sleeper, between two handlers. A polling
 *       thread that has stopped has already woken every caller that it answered.
 *   <li>A thread that relies on the client's reactor leaves the count to the reactor.
 * </ul>
 *
 * <p>What remains is a thread that has published and is late to wake. A handler's own thread first calls the observers of
 * the call. Any thread may lose its processor: for example, it wakes another sleeper, and the kernel runs that one first.
 * Only time tells that from a lost wake-up. The grace covers some time slices. It does not cover a control group that has
 * used up its processor time, nor a stopped process. A longer grace would cost time: the sleeper has its answer already.
 */
public final class LostWakeUps {
    private static final LimitedLog LOG = LimitedLog.of(LostWakeUps.class);

    private static volatile long grace = TimeUnit.MILLISECONDS.toNanos(20);

    private LostWakeUps() {}

    /** How long a sleeper waits for its wake-up after its sleep has lasted to its bound, in nanoseconds. */
    public static long grace() {
        return grace;
    }

    /**
     * Sets the {@link #grace()} of this process. For tests: they must not count a thread that a busy machine starves, and
     * may wait longer than users.
     */
    public static void grace(Duration time) {
        grace = time.toNanos();
    }

    /**
     * Sleeps, and counts a lost wake-up if there was one.
     *
     * @param nanos the bound of the sleep
     * @param sleep sleeps for at most so many nanoseconds; returns how many events came, or 0
     * @param missed whether what the thread waits for has happened, and no thread has said so
     * @param sleeper for the log
     * @return how many events came
     */
    public static int sleep(long nanos, LongToIntFunction sleep, BooleanSupplier missed, String sleeper) {
        for (long bound : new long[] {nanos, grace}) {
            long began = System.nanoTime();
            int events = sleep.applyAsInt(bound);
            if (events != 0 || System.nanoTime() - began < bound || !missed.getAsBoolean()) {
                return events;
            }
        }
        found(sleeper);
        return 0;
    }

    /** As {@link #sleep}, of a thread that is {@linkplain LockSupport#parkNanos(Object, long) parked}. */
    public static void park(Object blocker, long nanos, BooleanSupplier missed, String sleeper) {
        sleep(
                nanos,
                bound -> {
                    LockSupport.parkNanos(blocker, bound);
                    return 0;
                },
                missed,
                sleeper);
    }

    /** Counts one, and tells the log. */
    public static void found(String sleeper) {
        WaitCounts.add(WaitCounts.Kind.RESCUED);
        LOG.warn(
                "{} was not woken, and went on {} ms after its sleep had lasted to its bound: the thread that wakes it had no"
                        + " processor for so long, the other process breaks the protocol, or Rackcall has a fault",
                sleeper,
                TimeUnit.NANOSECONDS.toMillis(grace));
    }
}
