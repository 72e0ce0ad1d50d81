package dev.rackcall.verbs.soft.wire;

import dev.rackcall.verbs.CompletionStatus;

/** Why a responder refused a request. The ordinal travels. */
public enum Refusal {
    /** No receive request was posted: retry after the pause that the frame names. */
    NOT_READY_TO_RECEIVE(CompletionStatus.RNR_RETRY_EXCEEDED),
    /** No such queue pair, not yet ready, or a packet out of order: retry after the requester's timeout. */
    NO_ANSWER(CompletionStatus.RETRY_EXCEEDED),
    /** Malformed: too long, unaligned, too many reads. */
    INVALID_REQUEST(CompletionStatus.REMOTE_INVALID_REQUEST),
    /** Key, bounds or rights. */
    ACCESS(CompletionStatus.REMOTE_ACCESS_ERROR),
    /** The responder's own memory or queues failed. */
    OPERATION(CompletionStatus.REMOTE_OPERATION_ERROR);

    private static final Refusal[] ALL = values();

    private final CompletionStatus status;

    Refusal(CompletionStatus status) {
        this.status = status;
    }

    /** Status of the requester's work request. */
    public CompletionStatus status() {
        return status;
    }

    public static Refusal ofCode(int code) {
        return code < ALL.length ? ALL[code] : OPERATION;
    }
}
