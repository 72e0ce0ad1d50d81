package dev.rackcall.rdma;

import dev.rackcall.rdma.end.ForeignPeerException;
import dev.rackcall.rdma.end.Hello;
import dev.rackcall.verbs.Gid;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;

/**
 * A {@link Hello} over TCP, with the sender's queue pair. Big-endian:
 *
 * <pre>
 *    magic "RKRDMA02" (8) | length of the rest (4) | GID (16) | queue pair (4) | first packet (4) | hello (the rest)
 * </pre>
 *
 * @param gid of the device
 * @param queuePair its number, 24 bits
 * @param firstPacket number of the first packet that it will send, 24 bits, random
 */
record PairHello(Gid gid, int queuePair, int firstPacket, Hello hello) {
    private static final long MAGIC = 0x524b_5244_4d41_3032L;
    /** The first bytes of TLS records. */
    private static final int TLS_ALERT = 0x15;

    private static final int TLS_HANDSHAKE = 0x16;
    private static final int PLACE_BYTES = Gid.BYTES + 4 + 4;
    private static final int MIN_BYTES = PLACE_BYTES + Hello.FIXED_BYTES;
    private static final int MAX_BYTES = MIN_BYTES + Hello.MAX_PACKET_BYTES;

    /** The server's hello to a client that gets no connection. */
    static PairHello refusal(ByteBuffer packet) {
        return new PairHello(Gid.NONE, 0, 0, Hello.refusal(packet));
    }

    boolean isRefusal() {
        return queuePair == 0 && gid.equals(Gid.NONE);
    }

    /** Writes the whole frame at once, so that the peer never waits for the rest. */
    void write(OutputStream stream) throws IOException {
        int length = PLACE_BYTES + hello.byteSize();
        ByteBuffer frame = ByteBuffer.allocate(Long.BYTES + Integer.BYTES + length);
        frame.putLong(MAGIC).putInt(length).put(gid.toBytes()).putInt(queuePair).putInt(firstPacket);
        hello.write(frame);
        stream.write(frame.array());
        stream.flush();
    }

    /**
     * Reads a frame that any peer may have sent: nothing is allocated before its length is known to be valid. The
     * stream bounds how long a read may take.
     *
     * @throws ForeignPeerException if the bytes are not such a frame, or end early
     * @throws EOFException if the peer hangs up before it sends a byte, as a server with too many guests does
     * @throws IOException if reading fails, or takes too long
     */
    static PairHello read(InputStream stream) throws IOException, ForeignPeerException {
        int first = stream.read();
        if (first < 0) {
            throw new EOFException("the peer hung up without a word");
        }
        if (first == TLS_ALERT || first == TLS_HANDSHAKE) {
            throw new ForeignPeerException("it speaks TLS, but this process has no certificates (RdmaSettings.tls)");
        }
        try {
            DataInputStream head = new DataInputStream(
                    new SequenceInputStream(new ByteArrayInputStream(new byte[] {(byte) first}), stream));
            if (head.readLong() != MAGIC) {
                throw new ForeignPeerException("it does not speak Rackcall over RDMA");
            }
            int length = head.readInt();
            if (length < MIN_BYTES || length > MAX_BYTES) {
                throw new ForeignPeerException(
                        "its hello claims " + length + " bytes; " + MIN_BYTES + " to " + MAX_BYTES + " are valid");
            }
            byte[] rest = stream.readNBytes(length);
            if (rest.length < length) {
                throw new ForeignPeerException("its hello ends after " + rest.length + " of " + length + " bytes");
            }
            return decode(ByteBuffer.wrap(rest));
        } catch (EOFException e) {
            throw new ForeignPeerException("it hung up before its hello was complete");
        }
    }

    private static PairHello decode(ByteBuffer rest) throws ForeignPeerException {
        byte[] gid = new byte[Gid.BYTES];
        rest.get(gid);
        int queuePair = rest.getInt();
        int firstPacket = rest.getInt();
        if (queuePair >>> 24 != 0 || firstPacket >>> 24 != 0) {
            throw new ForeignPeerException(
                    "its queue pair " + queuePair + " and first packet " + firstPacket + " must have 24 bits");
        }
        return new PairHello(Gid.of(gid), queuePair, firstPacket, Hello.read(rest));
    }
}
