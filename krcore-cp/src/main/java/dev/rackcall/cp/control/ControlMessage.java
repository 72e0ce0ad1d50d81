package dev.rackcall.cp.control;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.verbs.Gid;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * One datagram between control ports.
 *
 * <pre>
 *   +0 magic (4) | +4 version (2) | +6 kind (2) | +8 number of the request (8) | +16 where to answer: GID (16), queue pair (4)
 *   +36 length of the body (4) | +40 body
 * </pre>
 *
 * @param version of the protocol
 * @param kind an operation, {@link #ANSWER} or {@link #REFUSAL}
 * @param id drawn at random by the asker, so that nobody can guess an answer
 * @param from who has sent it
 * @param body what the kind says; a copy that nobody changes. Its own position stays 0
 */
public record ControlMessage(int version, int kind, long id, ControlAddress from, ByteBuffer body) {
    /** Also of what follows from it: the tables that others read. */
    static final int VERSION = 2;

    static final int HEADER_BYTES = 40;
    static final int MAX_BYTES = 512;

    /** Where a meta server's table is. */
    public static final int HELLO = 1;
    /** Puts a host into the table, whoever was there. */
    public static final int REGISTER = 2;
    /** Keeps a host in the table, unless another life has taken its place. */
    public static final int RENEW = 3;
    /** Takes a life of a host out of the table. */
    public static final int REMOVE = 4;
    /** What a host is reached by, asked of itself. */
    public static final int DESCRIBE = 5;

    /** A queue pair for the asker's RC queue pair, see {@link ConnectedCallers}. */
    public static final int CONNECT = 6;
    /** The asker's RC queue pair is gone. */
    public static final int DISCONNECT = 7;
    /** What a host says of one of its memory regions, for those who cannot read its table. */
    public static final int REGION = 8;
    /** What a host is reached by, asked of the meta server by those who cannot read its table. */
    public static final int FIND = 9;

    static final int ANSWER = 0x100;
    static final int REFUSAL = 0x101;

    private static final int MAGIC = 0x52434350;
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    /** Writes it. Returns its length in bytes. */
    int write(MemorySegment memory, long at) {
        ByteBuffer buffer = memory.asSlice(at, MAX_BYTES).asByteBuffer().order(ByteOrder.nativeOrder());
        buffer.putInt(MAGIC).putShort((short) version).putShort((short) kind).putLong(id);
        buffer.putLong(from.gid().high()).putLong(from.gid().low()).putInt(from.number());
        buffer.putInt(body.remaining()).put(body.duplicate());
        return buffer.position();
    }

    /** @throws IllegalArgumentException if it is none */
    static ControlMessage read(MemorySegment memory, long at, int length) {
        if (length < HEADER_BYTES || length > MAX_BYTES) {
            throw new IllegalArgumentException("a control message has 40 to 512 bytes, not " + length);
        }
        byte[] copy = memory.asSlice(at, length).toArray(BYTE);
        ByteBuffer buffer = ByteBuffer.wrap(copy).order(ByteOrder.nativeOrder());
        if (buffer.getInt() != MAGIC) {
            throw new IllegalArgumentException("not a control message");
        }
        int version = Short.toUnsignedInt(buffer.getShort());
        int kind = Short.toUnsignedInt(buffer.getShort());
        long id = buffer.getLong();
        ControlAddress from = new ControlAddress(new Gid(buffer.getLong(), buffer.getLong()), buffer.getInt());
        int bytes = buffer.getInt();
        if (bytes != buffer.remaining()) {
            throw new IllegalArgumentException("a body of " + buffer.remaining() + " bytes that says " + bytes);
        }
        return new ControlMessage(version, kind, id, from, buffer.slice());
    }

    /** The body, for one reader, in the machine's byte order. */
    ByteBuffer content() {
        return body.duplicate().order(ByteOrder.nativeOrder());
    }

    boolean isReply() {
        return kind == ANSWER || kind == REFUSAL;
    }
}
