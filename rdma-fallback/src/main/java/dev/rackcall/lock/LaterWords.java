package dev.rackcall.lock;

/** Words with a compare-and-set whose result is not awaited. */
interface LaterWords extends LockWords {
    /**
     * Sends a {@link #compareAndSwap}; only one may be pending. It takes effect after all earlier stores and before all
     * later requests.
     */
    void swapLater(long offset, long expected, long desired);

    /** Whether the result has arrived; does not wait. */
    boolean isAnswered();

    /**
     * The result, as {@link #compareAndSwap} returns it. Waits for the result unless a later request has been awaited.
     */
    long answer();
}
