package dev.rackcall.shm.waiting;

/**
 * What a thread does while it waits for another process. Start with {@link #adaptive()}; {@link Spinning} has the
 * details.
 */
public enum WaitStrategy {
    /** Spins for as long as the wait takes. Lowest latency, but the thread occupies its processor all the time. */
    BUSY_SPIN,
    /** Spins if that has paid off lately, yields its processor to threads that need it, then sleeps. */
    ADAPTIVE,
    /** Sleeps at once. A call then costs two kernel wake-ups. For many mostly idle peers. */
    BLOCKING;

    /** For threads that each have their own processor. */
    public static WaitStrategy busySpin() {
        return BUSY_SPIN;
    }

    /** The default: close to the latency of spinning under load, and no processor time when idle. */
    public static WaitStrategy adaptive() {
        return ADAPTIVE;
    }

    /** Never spins. */
    public static WaitStrategy blocking() {
        return BLOCKING;
    }

    /** Whether a thread with this strategy ever sleeps in the kernel. */
    public boolean sleeps() {
        return this != BUSY_SPIN;
    }
}
