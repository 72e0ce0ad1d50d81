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
 *   +0 magic (4) | +4 version (2) | +6 kind (2) | +8 number of the request (8)
 *   +16 where to reply: GID (16), queue pair (4) | +36 length of the body (4) | +40 body
 * </pre>
 *
 * @param version of the protocol
 * @param kind an operation, {@link #ANSWER} or {@link #REFUSAL}
 * @param id drawn at random by the requester, so that replies cannot be guessed
 * @param from the sender
 * @param body the content, a copy that does not change and whose position stays 0
 */
public record ControlMessage(int version, int kind, long id, ControlAddress from, ByteBuffer body) {
    /** The version of control messages and of the tables that other hosts read. */
    static final int VERSION = 3;

    static final int HEADER_BYTES = 40;
    static final int MAX_BYTES = 512;

    /** Asks where the meta server's table is. */
    public static final int HELLO = 1;
    /** Puts a host into the table, replacing any former life. */
    public static final int REGISTER = 2;
    /** Keeps a host in the table, unless another life has taken its place. */
    public static final int RENEW = 3;
    /** Removes a life of a host from the table. */
    public static final int REMOVE = 4;
    /** Asks a host for its own record. */
    public static final int DESCRIBE = 5;

    /** Requests the other end for the sender's RC queue pair, see {@link ConnectedCallers}. */
    public static final int CONNECT = 6;
    /** The sender has closed its RC queue pair. */
    public static final int DISCONNECT = 7;
    /** Asks a host for the record of a memory region, if its table cannot be READ. */
    public static final int REGION = 8;
    /** Asks the meta server for a host's record, if its table cannot be READ. */
    public static final int FIND = 9;

    static final int ANSWER = 0x100;
    static final int REFUSAL = 0x101;

    private static final int MAGIC = 0x52434350;
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    /** Writes it; returns its length in bytes. */
    int write(MemorySegment memory, long at) {
        ByteBuffer buffer = memory.asSlice(at, MAX_BYTES).asByteBuffer().order(ByteOrder.nativeOrder());
        buffer.putInt(MAGIC).putShort((short) version).putShort((short) kind).putLong(id);
        buffer.putLong(from.gid().high()).putLong(from.gid().low()).putInt(from.number());
        buffer.putInt(body.remaining()).put(body.duplicate());
        return buffer.position();
    }

    /** @throws IllegalArgumentException if the bytes are not a control message */
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

    /** The body for one reader, in the machine's byte order. */
    ByteBuffer content() {
        return body.duplicate().order(ByteOrder.nativeOrder());
    }

    boolean isReply() {
        return kind == ANSWER || kind == REFUSAL;
    }
}
