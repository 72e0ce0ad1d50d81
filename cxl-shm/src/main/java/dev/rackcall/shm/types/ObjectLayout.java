package dev.rackcall.shm.types;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * How objects lie in an arena: little-endian, 8-byte aligned, behind a header.
 *
 * <pre>
 *   0               4               8
 *  +---------------+---------------+------------------------------+
 *  |    type id    |     bytes     |  fields, elements or text    |
 *  +---------------+---------------+------------------------------+
 * </pre>
 *
 * The type id is a hash of the layout and never 0. Bytes include the header and are not rounded up. Fields are aligned,
 * but no access relies on that, since a Ref forged by a hostile peer may lead to any offset.
 */
final class ObjectLayout {
    static final int HEADER_BYTES = 8;
    static final int ALIGNMENT = 8;

    static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfChar CHAR = ValueLayout.JAVA_CHAR_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final long FNV_OFFSET_BASIS = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private ObjectLayout() {}

    static long header(int typeId, int bytes) {
        return (typeId & 0xffff_ffffL) | ((long) bytes << 32);
    }

    static int typeId(long header) {
        return (int) header;
    }

    static int bytes(long header) {
        return (int) (header >>> 32);
    }

    /** FNV-1a over UTF-8, as the annotation processor computes it. */
    static long fingerprint(String description) {
        long hash = FNV_OFFSET_BASIS;
        for (byte b : description.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (b & 0xff)) * FNV_PRIME;
        }
        return hash;
    }

    /** 32 bits of the same hash, never 0, so that unused memory does not look like an object. */
    static int typeId(String layout) {
        long hash = fingerprint(layout);
        int folded = (int) (hash ^ (hash >>> 32));
        return folded == 0 ? 1 : folded;
    }
}
