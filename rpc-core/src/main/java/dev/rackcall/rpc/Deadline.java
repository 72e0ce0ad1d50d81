package dev.rackcall.rpc;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A moment on this host's monotonic clock by which a call must have ended. Immutable. Sent to the server; the calls
 * that its handler makes inherit it.
 */
public final class Deadline implements Comparable<Deadline> {
    /** On the clock. */
    private final long nanoTime;

    private final DeadlineClock clock;

    private Deadline(long nanoTime) {
        this(nanoTime, DeadlineClock.SYSTEM);
    }

    Deadline(long nanoTime, DeadlineClock clock) {
        this.nanoTime = nanoTime;
        this.clock = clock;
    }

    public static Deadline after(Duration duration) {
        return new Deadline(System.nanoTime() + duration.toNanos());
    }

    public static Deadline after(long amount, TimeUnit unit) {
        return new Deadline(System.nanoTime() + unit.toNanos(amount));
    }

    /** The deadline at that value of {@link System#nanoTime}, which all processes of a Linux host share. */
    public static Deadline atNanoTime(long nanoTime) {
        return new Deadline(nanoTime);
    }

    /** Its value on the clock of {@link System#nanoTime}. */
    public long nanoTime() {
        return clock.toSystem(nanoTime);
    }

    public boolean isExpired() {
        return clock.left(nanoTime) <= 0;
    }

    /** Negative once it has passed. */
    public long timeRemaining(TimeUnit unit) {
        return unit.convert(clock.left(nanoTime), TimeUnit.NANOSECONDS);
    }

    /** The earlier of the two. */
    public Deadline minimum(Deadline other) {
        return compareTo(other) <= 0 ? this : other;
    }

    @Override
    public int compareTo(Deadline other) {
        return Long.signum(nanoTime() - other.nanoTime());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Deadline that && that.nanoTime() == nanoTime();
    }

    @Override
    public int hashCode() {
        return Long.hashCode(nanoTime());
    }

    @Override
    public String toString() {
        return timeRemaining(TimeUnit.MICROSECONDS) + " us from now";
    }
}
