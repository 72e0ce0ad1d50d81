package dev.rackcall.cp.table;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A host's record of one of its memory regions: 24 bytes, with the rights of {@link dev.rackcall.verbs.Access} last.
 *
 * @param address of the first byte
 * @param length in bytes
 * @param rights bits
 */
public record RegionRecord(long address, long length, int rights) {
    static final int BYTES = 24;
    public static final int RECORD_BYTES = TableLayout.HEADER_BYTES + BYTES;

    /**
     * The table key of a region. Bit 32 is set, since key 0 marks empty places and a device may use the remote key 0.
     */
    public static long keyOf(int remoteKey) {
        return 1L << 32 | Integer.toUnsignedLong(remoteKey);
    }

    public byte[] toBytes() {
        ByteBuffer buffer = ByteBuffer.allocate(BYTES).order(ByteOrder.nativeOrder());
        return buffer.putLong(address).putLong(length).putInt(rights).array();
    }

    public static RegionRecord read(ByteBuffer buffer) {
        return new RegionRecord(buffer.getLong(), buffer.getLong(), buffer.getInt());
    }

    /** Whether this range lies within the region and all these rights are given. */
    public boolean allows(long from, long bytes, int asked) {
        long offset = from - address;
        return (rights & asked) == asked && offset >= 0 && offset <= length && bytes <= length - offset;
    }
}
