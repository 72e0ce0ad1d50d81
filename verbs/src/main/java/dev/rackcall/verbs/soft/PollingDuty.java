package dev.rackcall.verbs.soft;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * While a thread polls a completion queue busily, it reads the connections itself, and the event loop is spared their wake-ups. If it has not
 * polled for a tick, the event loop reads again: one-sided operations never depend on the application.
 */
final class PollingDuty {
    private static final long TICK_NANOS = 2_000_000;

    private final SoftContext context;
    private final AtomicLong polls = new AtomicLong();
    private final AtomicBoolean taken = new AtomicBoolean();
    private long seen;

    PollingDuty(SoftContext context) {
        this.context = context;
    }

    /** Reads all connections. Returns whether anything came. */
    boolean poll() {
        // Not atomic: two pollers may count as one, which is all that is asked.
        polls.lazySet(polls.get() + 1);
        boolean any = false;
        for (Link link : context.openLinks()) {
            any |= link.poll();
        }
        if (any && !taken.get() && taken.compareAndSet(false, true)) {
            setPolled(true);
            context.eventLoop().execute(this::watch);
        }
        return any;
    }

    /** A connection opened: who polls reads it, too. */
    void opened(Link link) {
        if (taken.get()) {
            link.interest().polled(true);
        }
    }

    private void watch() {
        long now = polls.get();
        if (now != seen) {
            seen = now;
            context.later(this::watch, TICK_NANOS);
            return;
        }
        taken.set(false);
        setPolled(false);
    }

    private void setPolled(boolean now) {
        for (Link link : context.openLinks()) {
            link.interest().polled(now);
        }
    }
}
