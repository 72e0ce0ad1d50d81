package dev.rackcall.verbs;

/** What a work request asks for (enum ibv_wr_opcode). */
public enum Opcode {
    /** Write into the peer's memory; the peer's program notices nothing. */
    WRITE,
    /** WRITE that also consumes a receive request at the peer and delivers 32 bits. */
    WRITE_WITH_IMMEDIATE,
    /** Send a message into the peer's next receive request. */
    SEND,
    /** SEND with 32 bits beside the message. */
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

    /** Whether the peer answers with data, so that the queue pair's depth of outstanding reads counts. */
    public boolean isReadOrAtomic() {
        return ordinal() >= READ.ordinal();
    }

    /** Whether it changes 8 bytes of the peer and brings back their old value. */
    public boolean isAtomic() {
        return ordinal() > READ.ordinal();
    }

    /** Whether it consumes a receive request at the peer. */
    public boolean isReceived() {
        return this == SEND || this == SEND_WITH_IMMEDIATE || this == WRITE_WITH_IMMEDIATE;
    }

    /** Whether 32 bits travel beside the message. */
    public boolean hasImmediate() {
        return this == SEND_WITH_IMMEDIATE || this == WRITE_WITH_IMMEDIATE;
    }
}
