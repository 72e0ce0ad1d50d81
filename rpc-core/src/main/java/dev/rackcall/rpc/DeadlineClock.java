package dev.rackcall.rpc;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The clock on which a channel and a server measure the deadlines of their calls. It is {@link #SYSTEM}, unless a test
 * sets another: {@code rackcall-junit} does, and other programs have no use for this class. Such a clock runs as the
 * system's does, and a test can advance it. Only deadlines are measured on it: threads sleep, poll and connect by the
 * system's clock.
 *
 * <p>Deadlines leave a connection as values of {@link System#nanoTime}: to other processes, to the calls that a handler
 * makes, and to users. Inside of it they are values of its clock. Thread-safe.
 */
public final class DeadlineClock {
    /** That of {@link System#nanoTime}, which nothing advances. */
    public static final DeadlineClock SYSTEM = new DeadlineClock();

    private static final long TEST_SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final ScopedValue<DeadlineClock> CURRENT = ScopedValue.newInstance();

    /** Nanoseconds by which it is ahead of the system's. Volatile, so that a loop that waits reads it each time. */
    private volatile long ahead;

    private DeadlineClock() {}

    /** A clock that shows the system's time until it is advanced. */
    public static DeadlineClock create() {
        return new DeadlineClock();
    }

    /** The clock of the channels and servers that the calling thread builds now. */
    public static DeadlineClock current() {
        return CURRENT.orElse(SYSTEM);
    }

    /** Runs {@code action} on the calling thread; channels and servers that it builds keep this clock. */
    public <T> T during(Supplier<T> action) {
        return ScopedValue.where(CURRENT, this).call(action::get);
    }

    /**
     * Lets that much time pass at once. Threads that sleep until a deadline notice it when they next look, after 150 ms
     * at most.
     *
     * @throws IllegalArgumentException if the duration is negative
     * @throws UnsupportedOperationException if this is the system's clock
     */
    public synchronized void advance(Duration duration) {
        if (this == SYSTEM) {
            throw new UnsupportedOperationException("the system's clock cannot be advanced");
        }
        if (duration.isNegative()) {
            throw new IllegalArgumentException("a clock cannot be set back by " + duration.negated());
        }
        ahead = Math.addExact(ahead, duration.toNanos());
    }

    /** The time, in nanoseconds from an arbitrary origin, as {@link System#nanoTime}. */
    public long nanoTime() {
        return System.nanoTime() + ahead;
    }

    /** Nanoseconds until a time on this clock; negative once it has passed. */
    public long left(long nanoTime) {
        return nanoTime - nanoTime();
    }

    /**
     * How long a thread that waits for a time on this clock may sleep before it looks again: the whole time that is left,
     * unless a test may advance the clock meanwhile.
     */
    public long longestSleep(long left) {
        return this == SYSTEM ? left : Math.min(left, TEST_SLEEP_NANOS);
    }

    /** The time on this clock for a value of {@link System#nanoTime}; 0, which means none, stays 0. */
    public long ofSystem(long nanoTime) {
        return nanoTime == 0 ? 0 : nanoTime + ahead;
    }

    /** The value of {@link System#nanoTime} for a time on this clock; 0, which means none, stays 0. */
    public long toSystem(long nanoTime) {
        return nanoTime == 0 ? 0 : nanoTime - ahead;
    }

    /** The deadline at a time on this clock. */
    public Deadline deadline(long nanoTime) {
        return new Deadline(nanoTime, this);
    }
}
