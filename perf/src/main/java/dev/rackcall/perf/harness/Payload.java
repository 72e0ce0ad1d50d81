package dev.rackcall.perf.harness;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** A request of bytes that carries its sequence in front, and the check of its echo. */
public final class Payload {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Payload() {}

    /** A payload of {@code bytes} bytes, at least 16, that are not all the same. */
    public static byte[] of(int bytes) {
        byte[] payload = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            payload[i] = (byte) (i * 31);
        }
        return payload;
    }

    /** A payload of the same length that differs from it in every byte. */
    public static byte[] unlike(byte[] payload) {
        byte[] other = payload.clone();
        for (int i = 0; i < other.length; i++) {
            other[i] = (byte) ~other[i];
        }
        return other;
    }

    /** Writes the sequence to both ends of the payload. */
    public static void mark(byte[] payload, long sequence) {
        LONG.set(payload, 0, sequence);
        LONG.set(payload, payload.length - Long.BYTES, ~sequence);
    }

    /** @throws WrongReplyException if the reply is not the echo of the payload that was marked with {@code sequence} */
    public static void check(String subject, byte[] reply, int bytes, long sequence) {
        if (reply.length != bytes) {
            throw new WrongReplyException(subject + " (length)", bytes, reply.length);
        }
        if ((long) LONG.get(reply, 0) != sequence) {
            throw new WrongReplyException(subject, sequence, (long) LONG.get(reply, 0));
        }
        if ((long) LONG.get(reply, bytes - Long.BYTES) != ~sequence) {
            throw new WrongReplyException(subject + " (tail)", ~sequence, (long) LONG.get(reply, bytes - Long.BYTES));
        }
    }
}
