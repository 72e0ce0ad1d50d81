package dev.rackcall.verbs.soft.queue;

import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the objects created from a parent, which must be closed after them. */
public final class Children {
    private static final int CLOSED = Integer.MIN_VALUE;

    private final String what;
    private final AtomicInteger count = new AtomicInteger();

    public Children(String what) {
        this.what = what;
    }

    public void add() {
        if (count.incrementAndGet() < 0) {
            count.decrementAndGet();
            throw new VerbsException(what + " is closed", VerbsErrno.EINVAL, "create a new one");
        }
    }

    public void remove() {
        count.decrementAndGet();
    }

    /**
     * Closes the parent.
     *
     * @return false if it was closed before
     * @throws VerbsException EBUSY if objects are left
     */
    public boolean close() {
        while (true) {
            int left = count.get();
            if (left < 0) {
                return false;
            }
            if (left > 0) {
                throw new VerbsException(
                        "closing " + what + " with " + left + " objects left in it",
                        VerbsErrno.EBUSY,
                        "close them first");
            }
            if (count.compareAndSet(0, CLOSED)) {
                return true;
            }
        }
    }
}
