package dev.rackcall.cp.session;

import dev.rackcall.cp.ControlPlaneException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * One message on the socket between a tenant's process and the agent process. A message of one byte is a wake-up
 * instead: it tells the agent that the ring has an entry, or a tenant that a port has a message.
 *
 * <pre>
 *   +0 magic (4) | +4 version (4) | +8 kind (4) | +12 number of the request (8) | +20 body
 * </pre>
 *
 * @param version of the protocol
 * @param kind a request, {@link #ANSWER} or {@link #REFUSAL}
 * @param number matches a reply to its request
 * @param body the content, in the machine's byte order; its position moves when it is read
 */
public record SessionMessage(int version, int kind, long number, ByteBuffer body) {
    /**
     * The tenant's name. The reply has the numbers of {@link SessionLayout}, the host, whether its device is hardware
     * (4), and the memory.
     */
    public static final int HELLO = 1;
    /** Right bits, and a file. The reply has address, length, local key, remote key. */
    public static final int REGISTER = 2;
    /** The local key of a region to close. */
    public static final int DEREGISTER = 3;

    public static final int ANSWER = 0x100;
    /** Ordinal of a {@link ControlPlaneException.Kind}, and a text. */
    public static final int REFUSAL = 0x101;

    static final int MAX_BODY = 1024;

    private static final int MAGIC = 0x52434147;
    private static final int HEADER_BYTES = 20;

    public static ByteBuffer newBody() {
        return ByteBuffer.allocate(MAX_BODY).order(ByteOrder.nativeOrder());
    }

    public static SessionMessage of(int kind, long number, ByteBuffer body) {
        return new SessionMessage(SessionLayout.VERSION, kind, number, body);
    }

    public static SessionMessage refusal(long number, ControlPlaneException.Kind kind, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ByteBuffer body = newBody().putInt(kind.ordinal());
        body.put(bytes, 0, Math.min(bytes.length, body.remaining()));
        return of(REFUSAL, number, body.flip());
    }

    public byte[] toBytes() {
        ByteBuffer buffer = ByteBuffer.allocate(HEADER_BYTES + body.remaining()).order(ByteOrder.nativeOrder());
        buffer.putInt(MAGIC).putInt(version).putInt(kind).putLong(number).put(body.duplicate());
        return buffer.array();
    }

    /** @throws IllegalArgumentException if the bytes are not such a message */
    public static SessionMessage read(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        try {
            if (bytes.length > HEADER_BYTES + MAX_BODY || buffer.getInt() != MAGIC) {
                throw new IllegalArgumentException("not a message between an agent and its tenants");
            }
            return new SessionMessage(
                    buffer.getInt(),
                    buffer.getInt(),
                    buffer.getLong(),
                    buffer.slice().order(ByteOrder.nativeOrder()));
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("a message of " + bytes.length + " bytes is too short", e);
        }
    }

    /** The rest of the body as text. */
    public String text() {
        return StandardCharsets.UTF_8.decode(body).toString();
    }
}
