package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.shm.Scope;
import java.util.function.LongSupplier;

/**
 * Decides for {@link Isolation#AUTO} whether a scope is sealed or copied. A scope of at least the channel's size is
 * sealed. A smaller one is copied, unless its seal stays in force from call to call because the scope does not change;
 * that costs less than a copy. To find out, the scope is sealed now and then, ever more rarely while its seals do not
 * last.
 *
 * <p>For a scope of at least {@link #WEIGHED_FROM} that changes between calls, the cheaper choice depends on the
 * machine: copies are bound by memory and caches, seals by the kernel and the number of pages written. Calls are
 * therefore timed with both choices and the cheaper one is used ({@link CallCosts}); the other is retried now and then.
 *
 * <p>Guesses are kept for recently passed scopes. They are read and written without ordering: a race makes a guess
 * worse, but never wrong.
 */
final class AutoSeals {
    /** Smaller scopes are copied: a copy of one or two pages costs no more than renewing a seal. */
    private static final long LEAST_BYTES = 3 * ControlLayout.PAGE;

    private static final long MEDIUM_BYTES = 16 * ControlLayout.PAGE;
    /** Below this size, copies never cost more than seals that do not last, and reading a clock would be noticeable. */
    static final long WEIGHED_FROM = 256 * ControlLayout.PAGE;

    private static final int LONGEST_PAUSE = 1024;
    /** Slots for guesses, in rows of {@link #ROW}. A new scope in a full row replaces the oldest. */
    private static final int ROWS = 64;

    private static final int ROW_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(ROWS);
    private static final int ROW = 4;
    /**
     * 2^64 divided by the golden ratio: multiplication by it spreads regular distances over the high bits (Knuth, 6.4).
     */
    private static final long SCATTER = 0x9E37_79B9_7F4A_7C15L;

    private final long sealFrom;
    private final boolean seals;
    private final LongSupplier faults;
    private final Guess[] guesses = new Guess[ROWS * ROW];
    private int displaced;

    /**
     * @param sealFrom size in bytes from which a scope is always sealed, for example because the server would not copy
     *     it
     * @param kept whether seals stay in force after their calls
     * @param faults the calling thread's page faults so far
     */
    AutoSeals(long sealFrom, boolean kept, LongSupplier faults) {
        this.sealFrom = sealFrom;
        this.seals = kept;
        this.faults = faults;
    }

    /** The measurements and the state of trials of one scope. */
    private final class Guess {
        private final CallCosts costs = new CallCosts(faults);
        private long run;
        private int pause;
        /** Calls until the other choice is tried; during a trial, calls until the trial ends. */
        private int left;

        private boolean trying;
        /** Whether calls outside trials seal the scope. */
        private boolean usually;

        void begin(long firstRun, long bytes) {
            run = firstRun;
            costs.clear();
            startOver(bytes);
        }

        private void startOver(long bytes) {
            pause = firstPause(bytes);
            left = pause;
            trying = false;
        }

        /**
         * The scope is still sealed, except for a few pages, which are cheaper to seal again than the whole scope is to
         * copy.
         */
        void lasted(long bytes) {
            costs.lasted();
            startOver(bytes);
        }

        /** Whether to seal the scope, which is open now. */
        boolean next(boolean weighed) {
            boolean tooDear = costs.isFarAbove(true, costs.settle());
            if (trying) {
                left--;
                boolean isOver = left <= 0;
                // Two samples, since the first may have waited for a processor.
                boolean isHopeless = tooDear && !usually && left <= CallCosts.SAMPLES - 2;
                if (isOver || isHopeless) {
                    trying = false;
                    pause = Math.min(LONGEST_PAUSE, 2 * pause);
                    left = Math.max(pause, costs.callsToMakeUpFor(!costs.sealIsCheaper()));
                }
            }
            if (!trying) {
                usually = costs.sealIsCheaper();
                if (--left <= 0) {
                    trying = true;
                    left = weighed ? CallCosts.SAMPLES : 1;
                }
            }
            return trying != usually;
        }

        void copied(long nanos) {
            costs.copied(nanos);
            if (trying && usually && left < CallCosts.SAMPLES && costs.isFarAbove(false, nanos)) {
                left = 0;
            }
        }
    }

    /**
     * Calls before the first trial: this many copies cost about as much as a seal and its page fault. The first call is
     * never a trial, since it may be the only one.
     */
    private static int firstPause(long bytes) {
        return bytes < MEDIUM_BYTES ? 16 : bytes < WEIGHED_FROM ? 4 : 2;
    }

    /** Whether to seal a scope for the next call. */
    boolean choose(Scope scope) {
        long bytes = scope.bytesHeld();
        if (bytes >= sealFrom) {
            return true;
        }
        if (!seals || bytes < LEAST_BYTES || scope.isExposed()) {
            return false;
        }
        Guess guess = guess(scope.firstRun(), bytes);
        if (scope.isSealed()) {
            guess.lasted(bytes);
            return true;
        }
        return guess.next(bytes >= WEIGHED_FROM);
    }

    /**
     * Whether to time the next call and to report it by {@link #copied} or {@link #sealed}. Called just before {@link
     * #choose}. False on virtual threads, which have no page faults of their own.
     */
    boolean weighs(Scope scope) {
        long bytes = scope.bytesHeld();
        return bytes >= WEIGHED_FROM
                && bytes < sealFrom
                && seals
                && !scope.isSealed()
                && !scope.isExposed()
                && !Thread.currentThread().isVirtual();
    }

    /** A timed call was answered; its scope was copied. */
    void copied(long firstRun, long nanos) {
        Guess guess = known(firstRun);
        if (guess != null) {
            guess.copied(nanos);
        }
    }

    /**
     * A timed call was answered; its scope was sealed.
     *
     * @param nanos from just before its pages were closed to the answer
     * @param closing the part of {@code nanos} spent closing pages
     */
    void sealed(long firstRun, long nanos, long closing) {
        Guess guess = known(firstRun);
        if (guess != null) {
            guess.costs.sealed(nanos, closing);
        }
    }

    private Guess guess(long run, long bytes) {
        Guess known = known(run);
        if (known != null) {
            return known;
        }
        int row = row(run);
        int at = row;
        while (at < row + ROW && guesses[at] != null) {
            at++;
        }
        if (at == row + ROW) {
            at = row + (displaced++ & (ROW - 1));
        } else {
            guesses[at] = new Guess();
        }
        guesses[at].begin(run, bytes);
        return guesses[at];
    }

    /** The guess for the scope with that first run, or null. */
    private Guess known(long run) {
        int row = row(run);
        for (int at = row; at < row + ROW; at++) {
            Guess guess = guesses[at];
            if (guess != null && guess.run == run) {
                return guess;
            }
        }
        return null;
    }

    private static int row(long run) {
        return (int) ((run / ControlLayout.PAGE * SCATTER) >>> ROW_SHIFT) * ROW;
    }
}
