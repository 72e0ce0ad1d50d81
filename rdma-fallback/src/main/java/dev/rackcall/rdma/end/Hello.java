package dev.rackcall.rdma.end;

import java.nio.ByteBuffer;

/**
 * The first message of each end to the other: its memory, its clock and the packet of the shared-memory handshake. The
 * transport's own fields precede it. Big-endian:
 *
 * <pre>
 *    address (8) | bytes (8) | clock (8) | key (4) | length of the packet (4) | packet
 * </pre>
 *
 * @param memory the connection's memory at the sender
 * @param clock CLOCK_MONOTONIC of the sender when it wrote this, in ns
 * @param packet the client's or the server's hello of the shared-memory handshake, which its reader checks
 */
public record Hello(PeerMemory memory, long clock, ByteBuffer packet) {
    /** Without the packet. */
    public static final int FIXED_BYTES = 8 + 8 + 8 + 4 + 4;
    /** Longest packet: that of the shared-memory handshake has three texts of 30,000 bytes at most. */
    public static final int MAX_PACKET_BYTES = 96 << 10;

    /** Checks the length. */
    public Hello {
        if (packet.remaining() > MAX_PACKET_BYTES) {
            throw new IllegalArgumentException(
                    "a packet of " + packet.remaining() + " bytes is longer than " + MAX_PACKET_BYTES);
        }
        packet = packet.asReadOnlyBuffer();
    }

    /** A hello of this process. */
    public static Hello now(PeerMemory memory, ByteBuffer packet) {
        return new Hello(memory, System.nanoTime(), packet);
    }

    /** The hello of a server that refuses the client, and therefore has no memory for it. */
    public static Hello refusal(ByteBuffer packet) {
        return now(new PeerMemory(0, 0, 1), packet);
    }

    @Override
    public ByteBuffer packet() {
        // Each reader moves a position of its own.
        return packet.duplicate();
    }

    /** The length of what {@link #write} writes. */
    public int byteSize() {
        return FIXED_BYTES + packet.remaining();
    }

    /** Writes it at the buffer's position. */
    public void write(ByteBuffer buffer) {
        buffer.putLong(memory.address()).putLong(memory.bytes()).putLong(clock);
        buffer.putInt(memory.key()).putInt(packet.remaining()).put(packet());
    }

    /**
     * Reads the rest of a buffer, which any peer may have sent. Copies the packet once its length is known to be valid.
     *
     * @throws ForeignPeerException if it is not a hello
     */
    public static Hello read(ByteBuffer buffer) throws ForeignPeerException {
        if (buffer.remaining() < FIXED_BYTES) {
            throw new ForeignPeerException(
                    "its hello has " + buffer.remaining() + " bytes; it needs " + FIXED_BYTES + " at least");
        }
        long address = buffer.getLong();
        long bytes = buffer.getLong();
        long clock = buffer.getLong();
        int key = buffer.getInt();
        int length = buffer.getInt();
        if (length < 0 || length > MAX_PACKET_BYTES || length != buffer.remaining()) {
            throw new ForeignPeerException("its hello claims a packet of " + length + " bytes and has "
                    + buffer.remaining() + "; " + MAX_PACKET_BYTES + " is the most");
        }
        if (bytes <= 0 || address < 0 || address + bytes < 0) {
            throw new ForeignPeerException("it has no memory at address " + address + " with " + bytes + " bytes");
        }
        byte[] packet = new byte[length];
        buffer.get(packet);
        return new Hello(new PeerMemory(address, key, bytes), clock, ByteBuffer.wrap(packet));
    }

    /** @throws ForeignPeerException if the peer's memory is shorter than this end's */
    public void requireRoom(long needed) throws ForeignPeerException {
        if (memory.bytes() < needed) {
            throw new ForeignPeerException("its memory of " + memory.bytes() + " bytes is shorter than the " + needed
                    + " bytes that it gets here");
        }
    }
}
