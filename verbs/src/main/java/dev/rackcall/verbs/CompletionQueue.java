package dev.rackcall.verbs;

/**
 * Where work requests are reported done. A queue that overflows loses completions: it raises {@link AsyncEvent.Type#CQ_ERROR} and the
 * queue pairs whose completions got lost go to the error state. Any thread may poll.
 */
public interface CompletionQueue extends AutoCloseable {
    /**
     * Takes what is there, in order, up to the batch's room. Never waits and allocates nothing.
     *
     * @return how many entries of the batch are filled; if that is less than it has room for, there were no more
     */
    int poll(Completions batch);

    /**
     * Asks for one announcement on this queue's channel at the next completion (or error).
     *
     * @param solicitedOnly whether only completions of messages sent as solicited count
     * @throws VerbsException if the queue was made without a channel
     */
    void requestNotification(boolean solicitedOnly);

    /** Entries it can hold; devices round up what was asked for. */
    int capacity();

    /** Closes it; fails with EBUSY while queue pairs use it. */
    @Override
    void close();
}
