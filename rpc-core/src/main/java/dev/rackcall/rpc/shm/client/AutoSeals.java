package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.shm.Scope;
import java.util.function.LongSupplier;

/**
 * What {@link Isolation#AUTO} does with a scope. From a size on that the channel says, it is sealed. A smaller one is copied, unless nobody changes it between its calls: then its seal
 * stays in force from call to call, which costs less than any copy. Whether that is so is found out by sealing it now and then, ever more seldom
 * while the seal does not last.
 *
 * <p>For a scope of {@link #WEIGHED_FROM} on that changes between its calls neither choice is the better one everywhere: a copy is bound to the memory and its caches, a seal to the kernel and
 * to how many pages are written. So calls are timed, by both ways, and the cheaper one is taken ({@link CallCosts}); the other is tried again now and then.
 *
 * <p>Guesses are kept for the scopes that were passed lately. They are read and written without order: a race makes a worse guess, and none is wrong.
 */
final class AutoSeals {
    /** A copy of one or two pages costs no more than renewing a seal. */
    private static final long LEAST_BYTES = 3 * ControlLayout.PAGE;

    private static final long MEDIUM_BYTES = 16 * ControlLayout.PAGE;
    /** Below that a copy was never found to cost more than a seal that does not last, and reading a clock would be felt. */
    static final long WEIGHED_FROM = 256 * ControlLayout.PAGE;

    private static final int LONGEST_PAUSE = 1024;
    /** Places for guesses, in rows of {@link #ROW}: of more scopes in one row, the one that came first is forgotten. */
    private static final int ROWS = 64;

    private static final int ROW_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(ROWS);
    private static final int ROW = 4;
    /** 2^64 divided by the golden ratio: what is multiplied by it differs in its high bits, whatever regular distance it had (Knuth, 6.4). */
    private static final long SCATTER = 0x9E37_79B9_7F4A_7C15L;

    private final long sealFrom;
    private final boolean seals;
    private final LongSupplier faults;
    private final Guess[] guesses = new Guess[ROWS * ROW];
    private int displaced;

    /**
     * @param sealFrom bytes from which on a scope is sealed in any case, if only because the server would not copy it
     * @param kept whether seals stay in force after their calls
     * @param faults the calling thread's page faults, ever more
     */
    AutoSeals(long sealFrom, boolean kept, LongSupplier faults) {
        this.sealFrom = sealFrom;
        this.seals = kept;
        this.faults = faults;
    }

    /** What is known of one scope. */
    private final class Guess {
        private final CallCosts costs = new CallCosts(faults);
        private long run;
        private int pause;
        /** Calls until the other way is tried, or, while it is tried, until that ends. */
        private int left;

        private boolean trying;
        /** The way that is not being tried. */
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

        /** The scope is sealed still, but for a few pages at most, which cost less than a copy of all. */
        void lasted(long bytes) {
            costs.lasted();
            startOver(bytes);
        }

        /** Whether to seal the scope, which is open. */
        boolean next(boolean weighed) {
            boolean tooDear = costs.isFarAbove(true, costs.settle());
            if (trying) {
                left--;
                boolean isOver = left <= 0;
                // Twice, since the first may have waited for a processor.
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

    /** Calls before the first try: about as many copies cost what a seal and the page fault after it do; never the first call, which may be the only one. */
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
     * Whether the call for which {@link #choose} is asked next is to be timed, and {@link #copied} or {@link #sealed} told. Not on a virtual thread, which has no
     * page faults of its own.
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

    /** A call that was timed has been answered; the scope was copied for it. */
    void copied(long firstRun, long nanos) {
        Guess guess = known(firstRun);
        if (guess != null) {
            guess.copied(nanos);
        }
    }

    /**
     * A call that was timed has been answered; the scope was sealed for it.
     *
     * @param nanos from before the closing of its pages on
     * @param closing how much of that the closing took
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

    /** What is known of the scope with that first run; null if nothing is. */
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
