package dev.rackcall.cp.table;

import java.nio.ByteBuffer;

/**
 * A host's memory region as a message between agents names it, in the machine's byte order: key (4), rights (4),
 * address (8), length (8).
 *
 * @param key the remote key
 */
public record NamedRegion(int key, RegionRecord region) {
    public static final int BYTES = 24;

    public void writeTo(ByteBuffer buffer) {
        buffer.putInt(key).putInt(region.rights()).putLong(region.address()).putLong(region.length());
    }

    public static NamedRegion read(ByteBuffer buffer) {
        int key = buffer.getInt();
        int rights = buffer.getInt();
        return new NamedRegion(key, new RegionRecord(buffer.getLong(), buffer.getLong(), rights));
    }
}
