package dev.rackcall.verbs;

/** Receive requests for several queue pairs. */
public interface SharedReceiveQueue extends AutoCloseable {
    /**
     * Adds a receive request; the request object may be reused at once.
     *
     * @return false if the queue is full
     */
    boolean post(ReceiveRequest request);

    /** Closes it; fails with EBUSY while queue pairs use it. */
    @Override
    void close();
}
