package dev.rackcall.verbs;

/** The kind of completed work (enum ibv_wc_opcode). Only meaningful if the status is SUCCESS. */
public enum CompletionOpcode {
    /** A SEND, with or without immediate. */
    SEND(0),
    /** A WRITE, with or without immediate. */
    WRITE(1),
    /** A READ. */
    READ(2),
    /** A compare and swap. */
    COMPARE_AND_SWAP(3),
    /** A fetch and add. */
    FETCH_AND_ADD(4),
    /** A receive request that a SEND filled. */
    RECEIVE(128),
    /** A receive request that a peer's WRITE with immediate consumed; its own memory is untouched. */
    RECEIVE_WRITE_WITH_IMMEDIATE(129),
    /** A number unknown to this version. */
    UNKNOWN(-1);

    private final int code;

    CompletionOpcode(int code) {
        this.code = code;
    }

    /** libibverbs' number. */
    public int code() {
        return code;
    }

    /** From libibverbs' number. */
    public static CompletionOpcode ofCode(int code) {
        return switch (code) {
            case 0 -> SEND;
            case 1 -> WRITE;
            case 2 -> READ;
            case 3 -> COMPARE_AND_SWAP;
            case 4 -> FETCH_AND_ADD;
            case 128 -> RECEIVE;
            case 129 -> RECEIVE_WRITE_WITH_IMMEDIATE;
            default -> UNKNOWN;
        };
    }

    /** The completion opcode of a work request of this kind. */
    public static CompletionOpcode of(Opcode opcode) {
        return switch (opcode) {
            case SEND, SEND_WITH_IMMEDIATE -> SEND;
            case WRITE, WRITE_WITH_IMMEDIATE -> WRITE;
            case READ -> READ;
            case COMPARE_AND_SWAP -> COMPARE_AND_SWAP;
            case FETCH_AND_ADD -> FETCH_AND_ADD;
        };
    }
}
