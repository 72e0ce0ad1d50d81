package dev.rackcall.verbs;

/** Kinds of queue pair. */
public enum QueuePairType {
    /** Reliable and connected: ordered, each message arrives once. All operations. */
    RC,
    /**
     * Unreliable datagrams: SEND only, one packet per message, to any peer by address handle. A 40-byte header precedes
     * the received message.
     */
    UD,
    /**
     * Dynamically connected, sending side: reliable, all operations. Each work request names the peer's target. Has no
     * receive queue.
     */
    DC_INITIATOR,
    /** Dynamically connected, receiving side: serves any initiator with its key; uses a shared receive queue. */
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

    /** Whether such a queue pair supports this operation. */
    public boolean allows(Opcode opcode) {
        return switch (this) {
            case RC, DC_INITIATOR -> true;
            case UD -> opcode == Opcode.SEND || opcode == Opcode.SEND_WITH_IMMEDIATE;
            case DC_TARGET -> false;
        };
    }
}
