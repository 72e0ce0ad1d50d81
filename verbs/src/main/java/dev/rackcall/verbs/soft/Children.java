package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts what was made from an object, which must not be closed before that. */
final class Children {
    private static final int CLOSED = Integer.MIN_VALUE;

    private final String what;
    private final AtomicInteger count = new AtomicInteger();

    Children(String what) {
        this.what = what;
    }

    void add() {
        if (count.incrementAndGet() < 0) {
            count.decrementAndGet();
            throw new VerbsException(what + " is closed", VerbsErrno.EINVAL, "make a new one");
        }
    }

    void remove() {
        count.decrementAndGet();
    }

    /** @return false if it was closed before */
    boolean close() {
        while (true) {
            int left = count.get();
            if (left < 0) {
                return false;
            }
            if (left > 0) {
                throw new VerbsException(
                        "closing " + what + " with " + left + " objects left in it",
                        VerbsErrno.EBUSY,
                        "close those first");
            }
            if (count.compareAndSet(0, CLOSED)) {
                return true;
            }
        }
    }
}
