package dev.rackcall.verbs.soft;

import java.util.concurrent.atomic.AtomicLong;

/**
 * While a thread polls a completion queue busily, it reads the connections itself, and the event loop is spared their wake-ups. If it has not
 * polled for a tick, the event loop reads again: one-sided operations never depend on the application.
 */
final class PollingDuty {
    private static final long TICK_NANOS = 2_000_000;

    private final SoftContext context;
    private final AtomicLong polls = new AtomicLong();
    /** Changed with this object's monitor, so that connections are told in the same order. */
    private volatile boolean taken;
    /** How often the duty was taken. With the monitor. */
    private long terms;

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
        if (any && !taken) {
            take();
        }
        return any;
    }

    private synchronized void take() {
        if (!taken) {
            taken = true;
            long term = ++terms;
            setPolled(true);
            context.eventLoop().execute(() -> watch(term));
        }
    }

    /** Gives the duty back at once, instead of at the next tick. */
    void rest() {
        if (taken) {
            giveBack();
        }
    }

    private synchronized void giveBack() {
        if (taken) {
            taken = false;
            setPolled(false);
        }
    }

    /** A connection opened: who polls reads it, too. */
    synchronized void opened(Link link) {
        if (taken) {
            link.interest().polled(true);
        }
    }

    private synchronized boolean isTerm(long term) {
        return taken && term == terms;
    }

    private void watch(long term) {
        if (!isTerm(term)) {
            // It was given back; and if it was taken again meanwhile, it has another watch.
            return;
        }
        long now = polls.get();
        if (now != seen) {
            seen = now;
            context.later(() -> watch(term), TICK_NANOS);
            return;
        }
        rest();
    }

    private void setPolled(boolean now) {
        for (Link link : context.openLinks()) {
            link.interest().polled(now);
        }
    }
}
