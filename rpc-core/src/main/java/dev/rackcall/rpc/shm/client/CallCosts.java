package dev.rackcall.rpc.shm.client;

import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * What calls that passed one scope took lately, by a copy and by a seal that did not last. Whole calls are compared, from the closing of the pages to the answer: so it counts, too, that a handler
 * finds a fresh copy in its cache and the original elsewhere. What a seal costs its caller after the call is added: the opening of the pages is taken to last as long as their closing, and each page
 * fault of the stores that follow for {@link #FAULT_NANOS}.
 *
 * <p>The least of the last few is what counts: a thread that waited for a processor says nothing about either. Read and written without order, as {@link AutoSeals} says.
 */
final class CallCosts {
    /** As many as are tried in a row. */
    static final int SAMPLES = 4;

    /** Of a store to a page that was closed and opened: about what was measured (docs/isolation.md). */
    static final long FAULT_NANOS = 1_000;

    private static final long TRY_PART = 60;
    private static final long LONGEST_PAUSE = 1 << 16;
    private static final long NONE = Long.MAX_VALUE;

    private final LongSupplier faults;
    private final long[] copies = new long[SAMPLES];
    private final long[] seals = new long[SAMPLES];
    private int copied;
    private int sealed;
    /** Of the last call with a seal, without the faults after it; {@link #NONE} if there is nothing to add them to. */
    private long unsettled;

    private long faultsBefore;
    private long thread;

    /** @param faults of the calling thread, ever more */
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
     * A call whose scope was closed for it has ended; what it costs is known at the next one, by {@link #settle}.
     *
     * @param nanos from before the closing to the answer
     * @param closing how much of that the closing took
     */
    void sealed(long nanos, long closing) {
        unsettled = nanos + closing;
        faultsBefore = faults.getAsLong();
        thread = Thread.currentThread().threadId();
    }

    /** The scope is passed again, and was opened since the last seal. Returns what that seal has cost, or 0 if that is not known. */
    long settle() {
        if (unsettled == NONE) {
            return 0;
        }
        long cost = unsettled;
        unsettled = NONE;
        if (thread != Thread.currentThread().threadId()) {
            // Whose faults are to be counted?
            return 0;
        }
        cost += (faults.getAsLong() - faultsBefore) * FAULT_NANOS;
        seals[sealed++ & (SAMPLES - 1)] = cost;
        return cost;
    }

    /** The last seal has lasted: it cost what a call costs. */
    void lasted() {
        unsettled = NONE;
    }

    /** Whether a seal is the better choice by what is known; not if nothing is. */
    boolean sealIsCheaper() {
        long copy = least(copies);
        return copy != NONE && least(seals) < copy;
    }

    /** Whether a cost is more than twice that of the other choice, so that there is no need to try once more. */
    boolean isFarAbove(boolean ofSeal, long cost) {
        long other = least(ofSeal ? copies : seals);
        return other != NONE && cost / 2 > other;
    }

    /** How many calls by the other choice keep what two tries of this one cost above them to a thirtieth; 0 if it costs less than twice as much. */
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
