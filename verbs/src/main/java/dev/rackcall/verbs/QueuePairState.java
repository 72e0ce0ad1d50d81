package dev.rackcall.verbs;

/** States of a queue pair (enum ibv_qp_state, in the same order, without SQD). */
public enum QueuePairState {
    /** New, or reset: nothing may be posted. */
    RESET(0),
    /** Receive requests may be posted; nothing is received yet. */
    INIT(1),
    /** Ready to receive: requests of peers are served. */
    READY_TO_RECEIVE(2),
    /** Ready to send, too. */
    READY_TO_SEND(3),
    /**
     * UD only: a send request failed; sends are flushed, receiving continues. {@link QueuePair#toReadyToSend} recovers
     * it.
     */
    SEND_QUEUE_ERROR(5),
    /** All requests are flushed. {@link QueuePair#toReset} recovers it. */
    ERROR(6);

    private final int code;

    QueuePairState(int code) {
        this.code = code;
    }

    /** libibverbs' number. */
    public int code() {
        return code;
    }

    /** From libibverbs' number. */
    public static QueuePairState ofCode(int code) {
        for (QueuePairState state : values()) {
            if (state.code == code) {
                return state;
            }
        }
        throw new IllegalArgumentException("unknown queue pair state " + code);
    }

    /** Whether a program may change a queue pair of this kind from this state to that one. */
    public boolean leadsTo(QueuePairState next, QueuePairType type) {
        return switch (next) {
            case RESET -> true;
            case INIT -> this == RESET;
            case READY_TO_RECEIVE -> this == INIT;
            case READY_TO_SEND -> type.sends() && (this == READY_TO_RECEIVE || this == SEND_QUEUE_ERROR);
            case SEND_QUEUE_ERROR -> false;
            case ERROR -> this != RESET;
        };
    }

    /**
     * For a provider.
     *
     * @throws VerbsException if {@link #leadsTo} returns false
     */
    public void requireLeadsTo(QueuePairState next, QueuePairType type, int number) {
        if (!leadsTo(next, type)) {
            throw new VerbsException(
                    type + " queue pair " + number + " is " + this + " and cannot become " + next,
                    VerbsErrno.EINVAL,
                    "the order is RESET, INIT, READY_TO_RECEIVE, READY_TO_SEND");
        }
    }
}
