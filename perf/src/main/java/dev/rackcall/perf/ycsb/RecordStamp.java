package dev.rackcall.perf.ycsb;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The last eight bytes of each field's value: a checksum of the bytes before them, and a hash of the record's key and the
 * field's number. A value that is damaged, torn or belongs elsewhere does not match; an outdated one does. Confined to one
 * thread.
 */
final class RecordStamp {
    /** Bytes of the stamp. */
    static final int BYTES = 8;

    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private final CRC32C checksum = new CRC32C();

    /** Overwrites the end of a value. */
    void put(String key, int field, byte[] value) {
        int end = value.length - BYTES;
        INT.set(value, end, checksum(value, end));
        INT.set(value, end + Integer.BYTES, owner(key, field));
    }

    boolean fits(String key, int field, byte[] value) {
        int end = value.length - BYTES;
        return end >= 0
                && (int) INT.get(value, end) == checksum(value, end)
                && (int) INT.get(value, end + Integer.BYTES) == owner(key, field);
    }

    private int checksum(byte[] value, int end) {
        checksum.reset();
        checksum.update(value, 0, end);
        return (int) checksum.getValue();
    }

    private static int owner(String key, int field) {
        return 31 * key.hashCode() + field;
    }
}
