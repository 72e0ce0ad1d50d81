package dev.rackcall.rdma.queue;

/** Whether the {@link Exchange}'s thread looks after a carrier. All with the carrier's lock, but {@link #isGiven}. */
final class Attention {
    /** Ticks for which it goes on looking after a carrier that needs it no more: a busy one is not to wake it for each call. */
    private static final int LINGER_TICKS = 40;

    /** Written with the lock; read without it, since that thread waits for nobody who posts. */
    private volatile boolean given;

    /** For so many ticks more. */
    private int ticks;

    boolean isGiven() {
        return given;
    }

    /** By who gives the lock back: returns whether he has to ask for it. */
    boolean mustBeAskedFor(boolean isBusy) {
        boolean asks = isBusy && !given;
        if (asks) {
            given = true;
            ticks = LINGER_TICKS;
        }
        return asks;
    }

    /** By that thread, once a tick. */
    void tick(boolean isBusy) {
        if (isBusy) {
            ticks = LINGER_TICKS;
            // It may be in the thread's list twice for a while, and the other time was found quiet.
            given = true;
        } else if (--ticks < 0) {
            given = false;
        }
    }
}
