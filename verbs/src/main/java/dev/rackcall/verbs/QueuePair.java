package dev.rackcall.verbs;

/**
 * A send queue and a receive queue. The program changes its state explicitly: RESET, INIT, READY_TO_RECEIVE,
 * READY_TO_SEND. Any local or remote error changes it to ERROR (for UD sends, to SEND_QUEUE_ERROR), where all
 * outstanding requests complete as FLUSHED, in order.
 *
 * <p>Any thread may post; requests take effect in the order of posting. A send request occupies its place in the queue
 * until it, or a later one, completes <em>signaled</em>: a program that never signals fills the queue permanently.
 */
public interface QueuePair extends AutoCloseable {
    /** The number that peers use, 24 bits. */
    int number();

    /** Its kind. */
    QueuePairType type();

    /** Its current state; a device may change it to an error state at any time. */
    QueuePairState state();

    /** Bytes that an inline request may carry, at least as many as requested. */
    int maxInline();

    /** RESET to INIT. */
    void toInit(InitAttributes attributes);

    /** INIT to READY_TO_RECEIVE. */
    void toReadyToReceive(ReadyToReceive attributes);

    /** READY_TO_RECEIVE (or SEND_QUEUE_ERROR) to READY_TO_SEND. */
    void toReadyToSend(ReadyToSend attributes);

    /** To ERROR from any state except RESET: all outstanding requests are flushed. */
    void toError();

    /** To RESET from any state: all outstanding requests are dropped without completions. */
    void toReset();

    /**
     * Posts a send request. The request object may be reused at once; the memory of its segments belongs to the device
     * until the completion.
     *
     * @return false if the send queue is full: nothing was posted
     * @throws VerbsException if the request can never be posted: wrong state, operation, number of segments, inline
     *     length
     */
    boolean postSend(WorkRequest request);

    /**
     * Posts the first {@code count} requests of this list, in order, at the cost of one call.
     *
     * @return the number of posted requests; fewer only if the send queue became full
     * @throws VerbsException as for one request; the requests before the refused one are posted
     */
    int postSend(WorkRequest[] requests, int count);

    /**
     * Posts a receive request, in any state except RESET.
     *
     * @return false if the receive queue is full
     * @throws VerbsException if this queue pair has a shared receive queue or cannot receive
     */
    boolean postReceive(ReceiveRequest request);

    /** Destroys it. Outstanding requests are dropped without completions; earlier completions stay in their queues. */
    @Override
    void close();
}
