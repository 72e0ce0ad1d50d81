package dev.rackcall.verbs;

/**
 * How a work request ended (enum ibv_wc_status, in the same order). Every status except SUCCESS puts the queue pair
 * into its error state.
 */
public enum CompletionStatus {
    /** Done. */
    SUCCESS,
    /** The message is longer than the receive request, or longer than the device or a UD packet allows. */
    LOCAL_LENGTH_ERROR,
    /** The queue pair is inconsistent. */
    LOCAL_QP_OPERATION_ERROR,
    /** An end-to-end context error (not used any more). */
    LOCAL_EE_CONTEXT_ERROR,
    /** A local key, range or access right is wrong. */
    LOCAL_PROTECTION_ERROR,
    /** Flushed: the queue pair entered the error state before this request was done. */
    FLUSHED,
    /** Binding a memory window failed. */
    MEMORY_WINDOW_BIND_ERROR,
    /** The peer's answer was unexpected. */
    BAD_RESPONSE,
    /** A local access violation during a remote operation. */
    LOCAL_ACCESS_ERROR,
    /** The peer cannot perform this request: too long for its receive request, unaligned atomic, too many reads. */
    REMOTE_INVALID_REQUEST,
    /** The peer's key, range or access right does not allow it. */
    REMOTE_ACCESS_ERROR,
    /** The peer failed while it performed the request. */
    REMOTE_OPERATION_ERROR,
    /** The peer did not answer any of the retries. */
    RETRY_EXCEEDED,
    /** The peer had no receive request at any of the retries. */
    RNR_RETRY_EXCEEDED,
    /** (reliable datagrams only) */
    LOCAL_RDD_VIOLATION,
    /** (reliable datagrams only) */
    REMOTE_INVALID_RD_REQUEST,
    /** The peer aborted the operation. */
    REMOTE_ABORTED,
    /** (reliable datagrams only) */
    INVALID_EE_NUMBER,
    /** (reliable datagrams only) */
    INVALID_EE_STATE,
    /** The device failed. */
    FATAL,
    /** The peer's response timed out. */
    RESPONSE_TIMEOUT,
    /** Any other error. */
    GENERAL_ERROR,
    /** (tag matching only) */
    TAG_MATCHING_ERROR,
    /** (tag matching only) */
    TAG_MATCHING_RENDEZVOUS_INCOMPLETE;

    private static final CompletionStatus[] ALL = values();

    /** libibverbs' number. */
    public int code() {
        return ordinal();
    }

    /** From libibverbs' number; an unknown one is GENERAL_ERROR. */
    public static CompletionStatus ofCode(int code) {
        return code >= 0 && code < ALL.length ? ALL[code] : GENERAL_ERROR;
    }
}
