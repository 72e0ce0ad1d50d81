package dev.rackcall.verbs;

/** Kinds of queue pair. */
public enum QueuePairType {
    /** Reliable and connected: ordered, each message arrives once. All operations. */
    RC,
    /** Unreliable datagrams: SEND only, one packet a message, to any peer by address handle. The receiver sees 40 bytes of header first. */
    UD,
    /**
     * Dynamically connected, the sending side: reliable, all operations, the peer's target is named in each work request. Has no receive
     * queue.
     */
    DC_INITIATOR,
    /** Dynamically connected, the receiving side: takes from any initiator that knows its key; receives from a shared receive queue. */
    DC_TARGET;

    /** Whether it has a send queue. */
    public boolean sends() {
        return this != DC_TARGET;
    }

    /** Whether it has receive requests. */
    public boolean receives() {
        return this != DC_INITIATOR;
    }

    /** Whether each work request names its destination. */
    public boolean isAddressedPerRequest() {
        return this == UD || this == DC_INITIATOR;
    }

    /** Whether such a queue pair can do this. */
    public boolean allows(Opcode opcode) {
        return switch (this) {
            case RC, DC_INITIATOR -> true;
            case UD -> opcode == Opcode.SEND || opcode == Opcode.SEND_WITH_IMMEDIATE;
            case DC_TARGET -> false;
        };
    }
}
