package dev.rackcall.verbs;

/**
 * A send queue and a receive queue. It goes RESET, INIT, READY_TO_RECEIVE, READY_TO_SEND by explicit steps; any error, local or remote,
 * moves it to ERROR (a UD's sends to SEND_QUEUE_ERROR), where all outstanding requests complete as FLUSHED, in order.
 *
 * <p>Any thread may post; requests take effect in the order of posting. A send request holds its place in the queue until it, or a later one,
 * completes <em>signaled</em>: a program that never signals fills the queue for good.
 */
public interface QueuePair extends AutoCloseable {
    /** The number by which peers name it, 24 bits. */
    int number();

    /** Its kind. */
    QueuePairType type();

    /** Its state now; a device may move it to an error state at any time. */
    QueuePairState state();

    /** Bytes that an inline request may carry, at least what was asked for. */
    int maxInline();

    /** RESET to INIT. */
    void toInit(InitAttributes attributes);

    /** INIT to READY_TO_RECEIVE. */
    void toReadyToReceive(ReadyToReceive attributes);

    /** READY_TO_RECEIVE (or SEND_QUEUE_ERROR) to READY_TO_SEND. */
    void toReadyToSend(ReadyToSend attributes);

    /** To ERROR from any state but RESET: everything outstanding is flushed. */
    void toError();

    /** To RESET from any state: everything outstanding is dropped without completions. */
    void toReset();

    /**
     * Posts a send request. The request object may be used again at once; its memory belongs to the device until the completion.
     *
     * @return false if the send queue is full: nothing was posted
     * @throws VerbsException if the request can never be posted: wrong state, operation, number of segments, inline length
     */
    boolean postSend(WorkRequest request);

    /**
     * Posts the first {@code count} requests of this list, in order, at the price of one.
     *
     * @return how many were posted; fewer only if the send queue became full
     * @throws VerbsException as for one request; those before it are posted
     */
    int postSend(WorkRequest[] requests, int count);

    /**
     * Posts a receive request, in any state but RESET.
     *
     * @return false if the receive queue is full
     * @throws VerbsException if this queue pair takes from a shared queue or does not receive at all
     */
    boolean postReceive(ReceiveRequest request);

    /** Destroys it. Outstanding requests are dropped without completions; completions already made stay in their queues. */
    @Override
    void close();
}
