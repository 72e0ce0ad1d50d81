package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.shm.Scope;

/**
 * What {@link Isolation#AUTO} does with a scope. A large one is sealed. A smaller one is copied, unless nobody changes it between its calls: then its seal
 * stays in force from call to call, which costs less than any copy. Whether that is so is found out by sealing it now and then, ever more seldom
 * while the seal does not last.
 *
 * <p>Guesses are kept for the scopes that were passed lately. They are read and written without order: a race makes a worse guess, and none is wrong.
 */
final class AutoSeals {
    /** A copy of one or two pages costs no more than renewing a seal. */
    private static final long LEAST_BYTES = 3 * ControlLayout.PAGE;

    private static final long MEDIUM_BYTES = 16 * ControlLayout.PAGE;
    private static final long LARGE_BYTES = 256 * ControlLayout.PAGE;

    private static final int LONGEST_PAUSE = 1024;
    private static final int KNOWN = 256;

    private final long sealFrom;
    private final boolean seals;
    private final long[] scopes = new long[KNOWN];
    private final int[] pauses = new int[KNOWN];
    private final int[] left = new int[KNOWN];

    /**
     * @param sealFrom bytes from which on a scope is sealed in any case
     * @param kept whether seals stay in force after their calls
     */
    AutoSeals(long sealFrom, boolean kept) {
        this.sealFrom = sealFrom;
        this.seals = kept;
    }

    /** Whether to seal a scope for the next call. */
    boolean choose(Scope scope) {
        long bytes = scope.bytesHeld();
        if (bytes >= sealFrom) {
            return true;
        }
        return seals && bytes >= LEAST_BYTES && !scope.isExposed() && guess(scope);
    }

    /** Calls before the first try: about as many copies cost what a seal and the page fault after it do; never the first call, which may be the only one. */
    private static int firstPause(long bytes) {
        return bytes < MEDIUM_BYTES ? 16 : bytes < LARGE_BYTES ? 4 : 2;
    }

    private boolean guess(Scope scope) {
        long run = scope.firstRun();
        int at = Long.hashCode(run / ControlLayout.PAGE) & (KNOWN - 1);
        boolean lasts = scope.isSealed();
        if (lasts || scopes[at] != run) {
            scopes[at] = run;
            pauses[at] = firstPause(scope.bytesHeld());
            left[at] = pauses[at];
        }
        if (lasts) {
            return true;
        }
        if (--left[at] > 0) {
            return false;
        }
        pauses[at] = Math.min(LONGEST_PAUSE, 2 * pauses[at]);
        left[at] = pauses[at];
        return true;
    }
}
