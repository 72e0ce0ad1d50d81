package dev.rackcall.metrics;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Counts of one method's calls at one end, in one registry: all channels or servers of the process add to the same ones.
 * Does not keep the registry in memory. Thread-safe.
 */
final class MethodCounts {
    static final int KINDS = Route.Kind.values().length;
    private static final int CODES = Status.Code.values().length;

    /** While calls are short, one in 2 to this power is timed. */
    private static final int TIMED_POWER = 4;

    /**
     * Calls that take longer on average are all timed. Two readings of the clock and a timer take some 100 ns: 1 % of
     * this.
     */
    private static final int LONG_NANOS = 10_000;

    /** The most by which one call counts in the average, so that a rare pause changes little. */
    private static final int MOST_NANOS = 10 * LONG_NANOS;

    /**
     * So many timed calls in a row must show that the average is on the other side of {@link #LONG_NANOS}. If a short
     * phase of long calls were timed more often than the calls around it, the timer's mean would be too high.
     */
    private static final int PERSISTENT = 1_024;

    /** 2^64 divided by the golden ratio: multiples of it spread evenly, without the period of a program's loop. */
    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

    final StripedCounter begun = new StripedCounter();
    final StripedCounter copied = new StripedCounter();
    final StripedCounter byPointer = new StripedCounter();

    /** By transport (the last for none) and status; made when first used, because most combinations never are. */
    private final AtomicReferenceArray<StripedCounter> ended = new AtomicReferenceArray<>((KINDS + 1) * CODES);

    /** Changes rarely. Read by all calls, without a need to see a change at once. */
    private boolean timesAll = true;
    /** Written by timed calls, and so not on the cache line that all calls read. */
    private final Pace pace = new Pace();

    /** What timed calls took. Threads may lose each other's updates, which does not matter. */
    private static final class Pace {
        private static final int AVERAGE = 32;
        private static final int AGAINST = 33;

        /** Two cache lines of padding on either side of the two ints in use. */
        private final int[] padded = new int[66];

        /** Returns whether the average is over {@link #LONG_NANOS}. */
        boolean isLongWith(long nanos) {
            int average = padded[AVERAGE];
            average += ((int) Math.min(nanos, MOST_NANOS) - average) >> TIMED_POWER;
            padded[AVERAGE] = average;
            return average > LONG_NANOS;
        }

        /** Whether the average has now contradicted {@link #timesAll} for {@link #PERSISTENT} timed calls in a row. */
        boolean isPersistent(boolean against) {
            int inRow = against ? padded[AGAINST] + 1 : 0;
            padded[AGAINST] = inRow == PERSISTENT ? 0 : inRow;
            return inRow == PERSISTENT;
        }
    }

    static int index(Status.Code code, Route.Kind transport) {
        return (transport == null ? KINDS : transport.ordinal()) * CODES + code.ordinal();
    }

    static int combinations() {
        return (KINDS + 1) * CODES;
    }

    /** Counts a call that begins. Returns whether it is to be timed. */
    boolean begins() {
        long before = begun.add(1);
        return timesAll || (before * GOLDEN) >>> (Long.SIZE - TIMED_POWER) == 0;
    }

    /** A timed call has ended. */
    void took(long nanos) {
        boolean isLong = pace.isLongWith(nanos);
        if (pace.isPersistent(isLong != timesAll)) {
            timesAll = isLong;
        }
    }

    /** Counts the calls that ended with this status over this transport. */
    StripedCounter ended(int index) {
        StripedCounter present = ended.get(index);
        if (present != null) {
            return present;
        }
        StripedCounter made = new StripedCounter();
        StripedCounter first = ended.compareAndExchange(index, null, made);
        return first == null ? made : first;
    }

    /** Calls that have not ended. */
    double active() {
        long over = 0;
        for (int i = 0; i < ended.length(); i++) {
            StripedCounter each = ended.get(i);
            over += each == null ? 0 : each.sum();
        }
        // Read last: each call that has ended has begun before.
        return (double) begun.sum() - over;
    }
}
