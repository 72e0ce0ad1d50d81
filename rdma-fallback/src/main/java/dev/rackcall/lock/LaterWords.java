package dev.rackcall.lock;

/** Words whose compare-and-set can be sent without waiting for what it finds. */
interface LaterWords extends LockWords {
    /** Sends a {@link #compareAndSwap}, of which there is one at a time. It takes effect after what was stored before and before all that is sent afterwards. */
    void swapLater(long offset, long expected, long desired);

    /** Whether its answer has come; does not wait. */
    boolean isAnswered();

    /** What was there, as {@link #compareAndSwap} says it; waits for that if nothing that was sent later has been waited for. */
    long answer();
}
