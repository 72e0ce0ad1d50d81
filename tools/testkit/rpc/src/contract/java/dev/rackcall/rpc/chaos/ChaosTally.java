package dev.rackcall.rpc.chaos;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.testkit.Await;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** Counts unfinished calls and calls that ended twice. Thread-safe. */
public final class ChaosTally {
    private final AtomicLong begun = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();
    private final AtomicReference<String> endedTwice = new AtomicReference<>();

    /** A call begins; returns the observer of its end. */
    public CallObserver begin(String method) {
        begun.incrementAndGet();
        AtomicInteger ends = new AtomicInteger();
        return (status, trailers) -> {
            if (ends.incrementAndGet() == 1) {
                ended.incrementAndGet();
            } else {
                endedTwice.set(method + ", the second time with " + status);
            }
        };
    }

    long underWay() {
        return begun.get() - ended.get();
    }

    public long begun() {
        return begun.get();
    }

    /**
     * Waits until every call has ended.
     *
     * @throws AssertionError if one does not, or has ended twice
     */
    public void awaitQuiet(String whose) {
        Await.equal("calls under way at the " + whose, 0L, this::underWay);
        if (endedTwice.get() != null) {
            throw new AssertionError("at the " + whose + " a call ended twice: " + endedTwice.get());
        }
    }
}
