package dev.rackcall.verbs;

/**
 * Reports completed work requests. A queue that overflows loses completions: it raises
 * {@link AsyncEvent.Type#CQ_ERROR}, and the queue pairs of the lost completions enter the error state. Any thread may
 * poll.
 */
public interface CompletionQueue extends AutoCloseable {
    /**
     * Moves available completions, in order, into the batch, up to its capacity. Never waits and allocates nothing.
     *
     * @return the number of filled entries; less than the capacity if there were no more
     */
    int poll(Completions batch);

    /**
     * Requests one notification on this queue's channel at the next completion (or error).
     *
     * @param solicitedOnly whether only completions of solicited messages (and errors) cause the notification
     * @throws VerbsException if the queue has no channel
     */
    void requestNotification(boolean solicitedOnly);

    /**
     * Called by a thread that has polled busily and is about to sleep, after its last poll. A software device then reads
     * its connections by itself at once.
     */
    default void rest() {}

    /** Maximum number of entries; devices round up the requested capacity. */
    int capacity();

    /** Closes it; fails with EBUSY while queue pairs use it. */
    @Override
    void close();
}
