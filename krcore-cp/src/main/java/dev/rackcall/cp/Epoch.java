package dev.rackcall.cp;

import java.security.SecureRandom;

/** Numbers of lives. They are drawn, not counted: a life knows nothing of the last one, and clocks may differ. */
final class Epoch {
    private Epoch() {}

    /** Any number but 0. */
    static int next(SecureRandom random) {
        int epoch = random.nextInt();
        return epoch == 0 ? 1 : epoch;
    }
}
