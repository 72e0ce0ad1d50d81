package dev.rackcall.rpc.shm.view;

import dev.rackcall.rpc.shm.protocol.CallTimes;
import java.lang.foreign.MemorySegment;
import java.util.OptionalDouble;

/**
 * How many calls took how long: those of one in {@value CallTimes#EVERY} that the client has timed. Its processes may lie.
 * Immutable.
 */
public final class TimeCounts {
    /** Those of a connection that times no calls. */
    static final TimeCounts NONE = new TimeCounts(new int[CallTimes.BUCKETS]);

    private final int[] counts;

    private TimeCounts(int[] counts) {
        this.counts = counts;
    }

    /** Those of a connection until now. */
    static TimeCounts of(MemorySegment header) {
        return new TimeCounts(CallTimes.counts(header));
    }

    /** Those that came after {@code earlier}. */
    public TimeCounts since(TimeCounts earlier) {
        int[] later = new int[counts.length];
        for (int bucket = 0; bucket < later.length; bucket++) {
            // A counter that went back was overwritten.
            later[bucket] = Math.max(0, counts[bucket] - earlier.counts[bucket]);
        }
        return new TimeCounts(later);
    }

    /** How many calls were timed. */
    public long timed() {
        long sum = 0;
        for (int count : counts) {
            sum += count & 0xFFFF_FFFFL;
        }
        return sum;
    }

    /**
     * The time that this part of the calls did not exceed, in nanoseconds, to a sixteenth.
     *
     * @param part 0.5 for the median
     * @return empty if no call was timed
     */
    public OptionalDouble percentile(double part) {
        long wanted = Math.max(1, (long) Math.ceil(part * timed()));
        long seen = 0;
        for (int bucket = 0; bucket < counts.length; bucket++) {
            seen += counts[bucket] & 0xFFFF_FFFFL;
            if (seen >= wanted) {
                return OptionalDouble.of(CallTimes.middle(bucket));
            }
        }
        return OptionalDouble.empty();
    }
}
