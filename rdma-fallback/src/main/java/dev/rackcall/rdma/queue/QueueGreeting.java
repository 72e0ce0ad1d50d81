package dev.rackcall.rdma.queue;

import java.nio.ByteBuffer;

/**
 * What each end tells the other before anything is pushed, as one message behind its {@link QueueMessage}: the packet of the shared-memory handshake, and where the end hears and what of its memory the
 * peer may write. Big-endian:
 *
 * <pre>
 *    number of this end (8) | port where its process hears (4) | key of the memory (4) | address (8) | bytes (8)
 *    | key of the words (4) | length of the packet (4) | address of the words (8) | clock (8) | packet
 * </pre>
 *
 * @param number by which messages for this end are known; 0 of a refusal, which gives no memory
 * @param port of its process, at its host
 * @param key for writing into the memory of the connection, and reading there
 * @param address where it begins, as the peer names it
 * @param bytes how long it is
 * @param wordsKey for writing the {@link QueueEnd}'s words
 * @param words where they begin
 * @param clock CLOCK_MONOTONIC of the sender when it wrote this, in ns
 * @param packet Hello or Welcome; what is in it is judged by others
 */
record QueueGreeting(
        long number,
        int port,
        int key,
        long address,
        long bytes,
        int wordsKey,
        long words,
        long clock,
        ByteBuffer packet) {
    /** Longest packet: that of the shared-memory handshake has three texts of 30,000 bytes at most. */
    static final int MAX_PACKET_BYTES = 96 << 10;

    /** Without the packet, with the message's header. */
    static final int FIXED_BYTES = QueueMessage.BYTES + 8 + 4 + 4 + 8 + 8 + 4 + 4 + 8 + 8;

    static final int MAX_BYTES = FIXED_BYTES + MAX_PACKET_BYTES;

    QueueGreeting {
        if (packet.remaining() > MAX_PACKET_BYTES) {
            throw new IllegalArgumentException(
                    "a packet of " + packet.remaining() + " bytes is longer than " + MAX_PACKET_BYTES);
        }
        packet = packet.asReadOnlyBuffer();
    }

    /** Of a server that gives no connection. */
    static QueueGreeting refusal(ByteBuffer packet) {
        return new QueueGreeting(0, 0, 0, 0, 1, 0, 0, System.nanoTime(), packet);
    }

    @Override
    public ByteBuffer packet() {
        // Whoever reads it moves a position of his own.
        return packet.duplicate();
    }

    /** How long it is, with the header. */
    int messageBytes() {
        return FIXED_BYTES + packet.remaining();
    }

    /** Writes it with its header. */
    void write(QueueMessage header, ByteBuffer buffer) {
        header.write(buffer);
        buffer.putLong(number).putInt(port).putInt(key).putLong(address).putLong(bytes);
        buffer.putInt(wordsKey).putInt(packet.remaining()).putLong(words).putLong(clock);
        buffer.put(packet());
    }

    /**
     * Reads one, behind its header, of a peer that may be anybody; copies the packet, when its length is known to be bearable.
     *
     * @throws MalformedException if it is none
     */
    static QueueGreeting read(ByteBuffer buffer) throws MalformedException {
        int fixed = FIXED_BYTES - QueueMessage.BYTES;
        if (buffer.remaining() < fixed) {
            throw new MalformedException(
                    "its greeting has " + buffer.remaining() + " bytes; it needs " + fixed + " at least");
        }
        long number = buffer.getLong();
        int port = buffer.getInt();
        int key = buffer.getInt();
        long address = buffer.getLong();
        long bytes = buffer.getLong();
        int wordsKey = buffer.getInt();
        int length = buffer.getInt();
        long words = buffer.getLong();
        long clock = buffer.getLong();
        if (length < 0 || length > MAX_PACKET_BYTES || length != buffer.remaining()) {
            throw new MalformedException("its greeting claims a packet of " + length + " bytes and has "
                    + buffer.remaining() + "; no more than " + MAX_PACKET_BYTES + " make sense");
        }
        if (bytes <= 0 || address < 0 || address + bytes < 0 || words < 0) {
            throw new MalformedException(
                    "it has no memory at address " + address + " with " + bytes + " bytes, and words at " + words);
        }
        byte[] packet = new byte[length];
        buffer.get(packet);
        return new QueueGreeting(number, port, key, address, bytes, wordsKey, words, clock, ByteBuffer.wrap(packet));
    }
}
