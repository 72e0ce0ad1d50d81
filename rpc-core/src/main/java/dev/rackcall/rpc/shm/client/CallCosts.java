package dev.rackcall.rpc.shm.client;

import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * The recent costs of calls that passed one scope, as a copy or under a seal that did not last. Whole calls are
 * compared, from the closing of the pages to the answer, so that a handler's cache misses count. A seal also costs its
 * caller time after the call: opening the pages, estimated like closing them, and {@link #FAULT_NANOS} per page fault.
 *
 * <p>The minimum of the last few samples counts, since a thread may have waited for a processor. Read and written
 * without ordering, see {@link AutoSeals}.
 */
final class CallCosts {
    /** Samples of one trial. */
    static final int SAMPLES = 4;

    /** Cost of a store to a page that was sealed and opened, as measured (docs/isolation.md). */
    static final long FAULT_NANOS = 1_000;

    private static final long TRY_PART = 60;
    private static final long LONGEST_PAUSE = 1 << 16;
    private static final long NONE = Long.MAX_VALUE;

    private final LongSupplier faults;
    private final long[] copies = new long[SAMPLES];
    private final long[] seals = new long[SAMPLES];
    private int copied;
    private int sealed;
    /** Cost of the last sealed call without the faults that followed; {@link #NONE} if there is none. */
    private long unsettled;

    private long faultsBefore;
    private long thread;

    /** @param faults the calling thread's page faults so far */
    CallCosts(LongSupplier faults) {
        this.faults = faults;
        clear();
    }

    void clear() {
        Arrays.fill(copies, NONE);
        Arrays.fill(seals, NONE);
        unsettled = NONE;
    }

    void copied(long nanos) {
        copies[copied++ & (SAMPLES - 1)] = nanos;
    }

    /**
     * A call whose scope was sealed for it has ended. Its cost is known at the next call, by {@link #settle}.
     *
     * @param nanos from before the closing to the answer
     * @param closing the part of {@code nanos} spent closing pages
     */
    void sealed(long nanos, long closing) {
        unsettled = nanos + closing;
        faultsBefore = faults.getAsLong();
        thread = Thread.currentThread().threadId();
    }

    /**
     * Called when the scope is passed again after its last seal was opened; returns that seal's cost, or 0 if unknown.
     */
    long settle() {
        if (unsettled == NONE) {
            return 0;
        }
        long cost = unsettled;
        unsettled = NONE;
        if (thread != Thread.currentThread().threadId()) {
            // The faults of different threads cannot be compared.
            return 0;
        }
        cost += (faults.getAsLong() - faultsBefore) * FAULT_NANOS;
        seals[sealed++ & (SAMPLES - 1)] = cost;
        return cost;
    }

    /** The last seal has lasted, so it cost nothing. */
    void lasted() {
        unsettled = NONE;
    }

    /** Whether seals are cheaper, according to the samples so far. */
    boolean sealIsCheaper() {
        long copy = least(copies);
        return copy != NONE && least(seals) < copy;
    }

    /** Whether a cost is more than twice that of the other choice, so that the trial can end. */
    boolean isFarAbove(boolean ofSeal, long cost) {
        long other = least(ofSeal ? copies : seals);
        return other != NONE && cost / 2 > other;
    }

    /**
     * The number of calls with the other choice that keeps the extra cost of two trials below a thirtieth; 0 if a trial
     * costs less than twice as much.
     */
    int callsToMakeUpFor(boolean seal) {
        long tried = least(seal ? seals : copies);
        long other = Math.max(1, least(seal ? copies : seals));
        return tried == NONE || other == NONE || tried / 2 <= other
                ? 0
                : (int) Math.min(LONGEST_PAUSE, TRY_PART * (tried / other));
    }

    private static long least(long[] costs) {
        long least = NONE;
        for (long cost : costs) {
            least = Math.min(least, cost);
        }
        return least;
    }
}
