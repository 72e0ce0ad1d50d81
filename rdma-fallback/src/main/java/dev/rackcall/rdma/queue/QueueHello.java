package dev.rackcall.rdma.queue;

import dev.rackcall.rdma.end.ForeignPeerException;
import dev.rackcall.rdma.end.Hello;
import dev.rackcall.rdma.end.PeerMemory;
import java.nio.ByteBuffer;

/**
 * A {@link Hello} as one message behind its {@link QueueMessage}, with the sender's port and words. Big-endian:
 *
 * <pre>
 *    number of this end (8) | port of its process (4) | key of the words (4) | address of the words (8) | hello (the rest)
 * </pre>
 *
 * @param number names this end in messages to it; 0 in a refusal
 * @param port where its process receives messages, at its host
 * @param words the {@link QueueEnd}'s words, which the peer writes
 */
record QueueHello(long number, int port, PeerMemory words, Hello hello) {
    /** Without the packet, with the message's header. */
    static final int FIXED_BYTES = QueueMessage.BYTES + 8 + 4 + 4 + 8 + Hello.FIXED_BYTES;

    /** Length of the {@link QueueEnd}'s words; behind them lies its own hello. */
    static final long WORDS_BYTES = 192;

    static final int MAX_BYTES = FIXED_BYTES + Hello.MAX_PACKET_BYTES;

    /** The hello of a server that refuses the client. */
    static QueueHello refusal(ByteBuffer packet) {
        return new QueueHello(0, 0, new PeerMemory(0, 0, 1), Hello.refusal(packet));
    }

    /** Its length with the header. */
    int messageBytes() {
        return FIXED_BYTES - Hello.FIXED_BYTES + hello.byteSize();
    }

    /** Writes it behind its header. */
    void write(QueueMessage header, ByteBuffer buffer) {
        header.write(buffer);
        buffer.putLong(number).putInt(port).putInt(words.key()).putLong(words.address());
        hello.write(buffer);
    }

    /**
     * Reads a hello behind its header, which any peer may have sent.
     *
     * @throws ForeignPeerException if it is none
     */
    static QueueHello read(ByteBuffer buffer) throws ForeignPeerException {
        int fixed = FIXED_BYTES - QueueMessage.BYTES;
        if (buffer.remaining() < fixed) {
            throw new ForeignPeerException(
                    "its hello has " + buffer.remaining() + " bytes; it needs " + fixed + " at least");
        }
        long number = buffer.getLong();
        int port = buffer.getInt();
        int key = buffer.getInt();
        long words = buffer.getLong();
        if (words < 0) {
            throw new ForeignPeerException("it has no words at address " + words);
        }
        return new QueueHello(number, port, new PeerMemory(words, key, WORDS_BYTES), Hello.read(buffer));
    }
}
