package dev.rackcall.rdma.queue;

import dev.rackcall.rdma.end.ForeignPeerException;
import java.nio.ByteBuffer;

/**
 * What one process tells another beside the memory of a connection: a header, 24 bytes, big-endian, which for a HELLO, SERVER_HELLO or REFUSAL is followed by a {@link QueueHello}.
 *
 * <pre>
 *    magic "RKVQ" (4) | kind (4) | number of the end that it is for (8) | value (8)
 * </pre>
 *
 * <p>The number is drawn at random by the end's own process, and told to its peer only: a message with a wrong one, from a stranger or from a connection that was, reaches nobody.
 *
 * @param kind one of the constants
 * @param to 0 of a HELLO, which is for whoever listens at the port
 * @param value the number that is TOLD; of a BYE the {@link Farewell}
 */
record QueueMessage(int kind, long to, long value) {
    /** A client asks for a connection. */
    static final int HELLO = 1;
    /** It gets one. */
    static final int SERVER_HELLO = 2;
    /** It gets none. */
    static final int REFUSAL = 3;
    /** Something was published, and this end has said that it listens; or was proclaimed. */
    static final int RING = 4;
    /** A number beside the memory. */
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
     * Reads one from somebody who may be anybody.
     *
     * @throws ForeignPeerException if it is none
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
