package dev.rackcall.verbs;

/** The operation of a work request (enum ibv_wr_opcode). */
public enum Opcode {
    /** Write into the peer's memory without involving the peer's program. */
    WRITE,
    /** WRITE that also consumes a receive request at the peer and delivers 32 bits of immediate data. */
    WRITE_WITH_IMMEDIATE,
    /** Send a message into the peer's next receive request. */
    SEND,
    /** SEND with 32 bits of immediate data. */
    SEND_WITH_IMMEDIATE,
    /** Read the peer's memory. */
    READ,
    /** Compare and swap 8 bytes of the peer's memory. */
    COMPARE_AND_SWAP,
    /** Add to 8 bytes of the peer's memory. */
    FETCH_AND_ADD;

    private static final Opcode[] ALL = values();

    /** libibverbs' number. */
    public int code() {
        return ordinal();
    }

    /** From libibverbs' number. */
    public static Opcode ofCode(int code) {
        return ALL[code];
    }

    /** Whether the peer answers with data. The queue pair's limit of outstanding reads applies to these operations. */
    public boolean isReadOrAtomic() {
        return ordinal() >= READ.ordinal();
    }

    /** Whether it changes 8 bytes at the peer and returns their old value. */
    public boolean isAtomic() {
        return ordinal() > READ.ordinal();
    }

    /** Whether it consumes a receive request at the peer. */
    public boolean isReceived() {
        return this == SEND || this == SEND_WITH_IMMEDIATE || this == WRITE_WITH_IMMEDIATE;
    }

    /** Whether it carries immediate data. */
    public boolean hasImmediate() {
        return this == SEND_WITH_IMMEDIATE || this == WRITE_WITH_IMMEDIATE;
    }
}
