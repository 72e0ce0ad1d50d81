package dev.rackcall.verbs.real;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntSupplier;

/** Closes once; what could not be closed, since it is in use, can be closed later. */
final class Closing {
    private Closing() {}

    static void run(AtomicBoolean closed, IntSupplier verb, String what) {
        try {
            Verb.zero(verb.getAsInt(), what);
        } catch (RuntimeException stillOpen) {
            closed.set(false);
            throw stillOpen;
        }
    }
}
