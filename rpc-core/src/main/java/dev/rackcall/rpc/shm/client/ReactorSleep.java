package dev.rackcall.rpc.shm.client;

/**
 * Whether the client's reactor sleeps or is about to. The reactor {@linkplain #announce announces} its sleep before it
 * looks for calls for the last time. A thread with a call for the reactor announces that call, fences, and then {@linkplain
 * #wakeIfIdle wakes} the reactor. So the reactor sees the call or is woken.
 */
final class ReactorSleep {
    private final Runnable wakeUp;
    /** True from just before the reactor's last check of the calls until it wakes up. */
    private volatile boolean idle;
    /** True while it sleeps and no server is to ring for answers, since none was awaited. */
    private volatile boolean unaware;

    /** @param wakeUp ends the current sleep early or, if there is none, the next one; any thread */
    ReactorSleep(Runnable wakeUp) {
        this.wakeUp = wakeUp;
    }

    // ---- the reactor

    /** The volatile store precedes the reactor's last check of the calls. */
    void announce() {
        idle = true;
    }

    void end() {
        idle = false;
    }

    /** Whether the reactor has announced a sleep that no thread has ended. */
    boolean isIdle() {
        return idle;
    }

    /** Whether the sleep that begins is one of which no server knows. */
    void unaware(boolean isSo) {
        unaware = isSo;
    }

    // ---- any thread

    /** Wakes the reactor if it sleeps. The caller has announced its call and then fenced. */
    void wakeIfIdle() {
        if (idle) {
            // Before the wake-up: the reactor may announce its next sleep right after it.
            idle = false;
            wakeUp.run();
        }
    }

    /** See {@link ClientReactor#isUnaware}. */
    boolean isUnaware() {
        // In this order: a reactor that was woken clears the second before it sets the first again.
        return idle && unaware;
    }
}
