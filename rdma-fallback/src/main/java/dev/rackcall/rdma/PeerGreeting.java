package dev.rackcall.rdma;

import dev.rackcall.verbs.Gid;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;

/**
 * What each end tells the other before anything is pushed, as one frame over TCP: the packet of the shared-memory handshake, and where its queue pair and its
 * memory are. Big-endian:
 *
 * <pre>
 *    magic "RKRDMA01" (8) | length of the rest (4) | GID (16) | queue pair (4) | first packet (4)
 *    | address (8) | key (4) | bytes (8) | clock (8) | packet (the rest)
 * </pre>
 *
 * @param gid of the device
 * @param queuePair its number, 24 bits
 * @param firstPacket number of the first packet that it will send, 24 bits, random
 * @param address where the connection's memory begins, as the peer names it
 * @param key for writing there
 * @param bytes how long the memory is
 * @param clock CLOCK_MONOTONIC of the sender when it wrote this, in ns
 * @param packet Hello or Welcome; what is in it is judged by others
 */
record PeerGreeting(
        Gid gid, int queuePair, int firstPacket, long address, int key, long bytes, long clock, ByteBuffer packet) {
    /** Longest packet: that of the shared-memory handshake has three texts of 30,000 bytes at most. */
    static final int MAX_PACKET_BYTES = 96 << 10;

    private static final long MAGIC = 0x524b_5244_4d41_3031L;
    private static final int FIXED_BYTES = Gid.BYTES + 4 + 4 + 8 + 4 + 8 + 8;

    PeerGreeting {
        if (packet.remaining() > MAX_PACKET_BYTES) {
            throw new IllegalArgumentException(
                    "a packet of " + packet.remaining() + " bytes is longer than " + MAX_PACKET_BYTES);
        }
        packet = packet.asReadOnlyBuffer();
    }

    @Override
    public ByteBuffer packet() {
        // Whoever reads it moves a position of his own.
        return packet.duplicate();
    }

    /** Writes the frame at once, so that a peer never waits for half of one. */
    void write(OutputStream stream) throws IOException {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(frame);
        out.writeLong(MAGIC);
        out.writeInt(FIXED_BYTES + packet.remaining());
        out.write(gid.toBytes());
        out.writeInt(queuePair);
        out.writeInt(firstPacket);
        out.writeLong(address);
        out.writeInt(key);
        out.writeLong(bytes);
        out.writeLong(clock);
        byte[] bytesOfPacket = new byte[packet.remaining()];
        packet().get(bytesOfPacket);
        out.write(bytesOfPacket);
        stream.write(frame.toByteArray());
        stream.flush();
    }

    /**
     * Reads a frame of a peer that may be anybody: nothing is allocated before its length is known to be bearable. How long a read may take is the stream's affair.
     *
     * @throws ForeignPeerException if it is no such frame, or ends early
     * @throws EOFException if the peer hangs up without a word, as a server does that has too many guests
     * @throws IOException if reading fails, or takes too long
     */
    static PeerGreeting read(InputStream stream) throws IOException, ForeignPeerException {
        int first = stream.read();
        if (first < 0) {
            throw new EOFException("the peer hung up without a word");
        }
        try {
            DataInputStream head = new DataInputStream(
                    new SequenceInputStream(new ByteArrayInputStream(new byte[] {(byte) first}), stream));
            if (head.readLong() != MAGIC) {
                throw new ForeignPeerException("it does not speak Rackcall over RDMA");
            }
            int length = head.readInt();
            if (length < FIXED_BYTES || length > FIXED_BYTES + MAX_PACKET_BYTES) {
                throw new ForeignPeerException("its greeting claims " + length + " bytes; from " + FIXED_BYTES + " to "
                        + (FIXED_BYTES + MAX_PACKET_BYTES) + " make sense");
            }
            byte[] rest = stream.readNBytes(length);
            if (rest.length < length) {
                throw new ForeignPeerException("its greeting ends after " + rest.length + " of " + length + " bytes");
            }
            return decode(rest);
        } catch (EOFException e) {
            throw new ForeignPeerException("it hung up before its greeting was complete");
        }
    }

    private static PeerGreeting decode(byte[] rest) throws IOException, ForeignPeerException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(rest));
        Gid gid = Gid.of(in.readNBytes(Gid.BYTES));
        int queuePair = in.readInt();
        int firstPacket = in.readInt();
        long address = in.readLong();
        int key = in.readInt();
        long bytes = in.readLong();
        long clock = in.readLong();
        if (queuePair >>> 24 != 0 || firstPacket >>> 24 != 0) {
            throw new ForeignPeerException(
                    "its queue pair " + queuePair + " and first packet " + firstPacket + " must have 24 bits");
        }
        if (bytes <= 0 || address + bytes < 0 || address < 0) {
            throw new ForeignPeerException("it has no memory at address " + address + " with " + bytes + " bytes");
        }
        ByteBuffer packet = ByteBuffer.wrap(rest, FIXED_BYTES, rest.length - FIXED_BYTES);
        return new PeerGreeting(gid, queuePair, firstPacket, address, key, bytes, clock, packet);
    }
}
