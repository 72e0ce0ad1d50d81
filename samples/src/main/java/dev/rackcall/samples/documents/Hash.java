package dev.rackcall.samples.documents;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** 64-bit hashes of bytes and of sequences of longs, by multiplication to 128 bits. */
final class Hash {
    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long START = 0xa0761d6478bd642fL;
    private static final long FACTOR = 0xe7037ed1a0b428dbL;

    private Hash() {}

    static long of(byte[] bytes) {
        long hash = START ^ bytes.length;
        int at = 0;
        for (; at <= bytes.length - Long.BYTES; at += Long.BYTES) {
            hash = mix(hash, (long) WORD.get(bytes, at));
        }
        long tail = 0;
        for (int shift = 0; at < bytes.length; at++, shift += Byte.SIZE) {
            tail |= (bytes[at] & 0xffL) << shift;
        }
        return mix(hash, tail);
    }

    /** The hash of a sequence from the hash of all but its last element, and that element. */
    static long mix(long hash, long next) {
        long mixed = (hash * START) ^ (next + FACTOR);
        return Math.unsignedMultiplyHigh(mixed, FACTOR) ^ (mixed * FACTOR);
    }
}
