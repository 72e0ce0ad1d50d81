package dev.rackcall.verbs;

/** How a work request ended (enum ibv_wc_status, in the same order). Anything but SUCCESS moved the queue pair to its error state. */
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
    /** Flushed: the queue pair was in the error state before this request was done. */
    FLUSHED,
    /** Binding a memory window failed. */
    MEMORY_WINDOW_BIND_ERROR,
    /** The peer answered something unexpected. */
    BAD_RESPONSE,
    /** A local access violation during a remote operation. */
    LOCAL_ACCESS_ERROR,
    /** The peer cannot do this request: too long for its receive request, unaligned atomic, too many reads. */
    REMOTE_INVALID_REQUEST,
    /** The peer's key, range or access right does not allow it. */
    REMOTE_ACCESS_ERROR,
    /** The peer failed while doing it. */
    REMOTE_OPERATION_ERROR,
    /** The peer did not answer, however often it was tried. */
    RETRY_EXCEEDED,
    /** The peer had no receive request, however often it was tried. */
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

    /** From libibverbs' number; one nobody knows is GENERAL_ERROR. */
    public static CompletionStatus ofCode(int code) {
        return code >= 0 && code < ALL.length ? ALL[code] : GENERAL_ERROR;
    }
}
