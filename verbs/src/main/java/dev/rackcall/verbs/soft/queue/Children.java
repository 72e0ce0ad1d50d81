package dev.rackcall.verbs.soft.queue;

import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts an object's children, which must be closed before it. The object itself counts as a child of its parent. */
public final class Children {
    private static final int CLOSED = Integer.MIN_VALUE;

    private final String what;
    private final Optional<Children> parent;
    private final AtomicInteger count = new AtomicInteger();

    /** The children of an object without a parent. */
    Children(String what) {
        this.what = what;
        parent = Optional.empty();
    }

    /** The children of an object that is itself a child of {@code parent}. */
    public Children(String what, Children parent) {
        parent.add();
        this.what = what;
        this.parent = Optional.of(parent);
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
     * Closes the object.
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
                parent.ifPresent(Children::remove);
                return true;
            }
        }
    }
}
