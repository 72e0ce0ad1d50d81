package dev.rackcall.rdma.queue;

import dev.rackcall.rdma.end.ForeignPeerException;
import java.nio.ByteBuffer;

/**
 * A message between two processes, beside the memory of a connection: a header of 24 bytes, big-endian. A {@link
 * QueueHello} follows in HELLO, SERVER_HELLO and REFUSAL.
 *
 * <pre>
 *    magic "RKVQ" (4) | kind (4) | number of the receiving end (8) | value (8)
 * </pre>
 *
 * <p>The receiving end's process chooses the number at random and tells it only to the peer. A message with a wrong
 * number, from a stranger or from a former connection, is dropped.
 *
 * @param kind one of the constants
 * @param to 0 of a HELLO, which is for the listener at the port
 * @param value the number of TOLD; the {@link Farewell} of BYE
 */
record QueueMessage(int kind, long to, long value) {
    /** A client asks for a connection. */
    static final int HELLO = 1;
    /** The client gets a connection. */
    static final int SERVER_HELLO = 2;
    /** The client gets none. */
    static final int REFUSAL = 3;
    /**
     * The sender has published something after the receiver announced that it listens, or the publication was urgent.
     */
    static final int RING = 4;
    /** Carries a number that belongs to no memory. */
    static final int TOLD = 5;
    /** The connection has ended. */
    static final int BYE = 6;

    static final int BYTES = 24;

    private static final int MAGIC = 0x524b_5651;

    /** Writes it at the buffer's position. */
    void write(ByteBuffer buffer) {
        buffer.putInt(MAGIC).putInt(kind).putLong(to).putLong(value);
    }

    /**
     * Reads a message, which any process may have sent.
     *
     * @throws ForeignPeerException if it is not a message
     */
    static QueueMessage read(ByteBuffer buffer) throws ForeignPeerException {
        if (buffer.remaining() < BYTES) {
            throw new ForeignPeerException("it says " + buffer.remaining() + " bytes, fewer than " + BYTES);
        }
        if (buffer.getInt() != MAGIC) {
            throw new ForeignPeerException("it does not speak Rackcall over virtual queues");
        }
        int kind = buffer.getInt();
        if (kind < HELLO || kind > BYE) {
            throw new ForeignPeerException("it says a message of kind " + kind + ", which does not exist");
        }
        return new QueueMessage(kind, buffer.getLong(), buffer.getLong());
    }
}
