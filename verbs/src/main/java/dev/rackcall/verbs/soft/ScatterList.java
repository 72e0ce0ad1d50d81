package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.Access;
import java.lang.foreign.MemorySegment;

/** The local memory of a posted request. */
final class ScatterList {
    private final long[] addresses;
    private final int[] lengths;
    private final int[] keys;
    private int count;
    private long bytes;

    ScatterList(int capacity) {
        addresses = new long[capacity];
        lengths = new int[capacity];
        keys = new int[capacity];
    }

    void clear() {
        count = 0;
        bytes = 0;
    }

    void add(long address, int length, int key) {
        addresses[count] = address;
        lengths[count] = length;
        keys[count] = key;
        count++;
        bytes += Integer.toUnsignedLong(length);
    }

    void set(ScatterList other) {
        clear();
        for (int i = 0; i < other.count; i++) {
            add(other.addresses[i], other.lengths[i], other.keys[i]);
        }
    }

    /** Bytes of all segments. */
    long bytes() {
        return bytes;
    }

    /** Whether keys, bounds and rights of all segments hold. */
    boolean isUsable(SoftProtectionDomain domain, int right) {
        for (int i = 0; i < count; i++) {
            SoftMemoryRegion region = domain.region(keys[i]);
            if (lengths[i] != 0
                    && (region == null
                            || !region.allows(domain, addresses[i], Integer.toUnsignedLong(lengths[i]), right))) {
                return false;
            }
        }
        return true;
    }

    /** Stores bytes at this offset of the whole; false if a region does not allow it. The caller has checked that they fit. */
    boolean store(SoftProtectionDomain domain, long offset, MemorySegment from, long at, int length) {
        return move(domain, offset, from, at, length, Access.LOCAL_WRITE.bit(), true);
    }

    /** Loads bytes from this offset of the whole; false if a region does not allow it. */
    boolean load(SoftProtectionDomain domain, long offset, MemorySegment to, long at, int length) {
        return move(domain, offset, to, at, length, 0, false);
    }

    private boolean move(
            SoftProtectionDomain domain,
            long offset,
            MemorySegment other,
            long at,
            int length,
            int right,
            boolean store) {
        long skip = offset;
        long position = at;
        long left = length;
        for (int i = 0; i < count && left > 0; i++) {
            long size = Integer.toUnsignedLong(lengths[i]);
            if (skip >= size) {
                skip -= size;
                continue;
            }
            long part = Math.min(size - skip, left);
            if (!moveOne(domain, keys[i], addresses[i] + skip, other, position, part, right, store)) {
                return false;
            }
            position += part;
            left -= part;
            skip = 0;
        }
        return true;
    }

    private static boolean moveOne(
            SoftProtectionDomain domain,
            int key,
            long address,
            MemorySegment other,
            long at,
            long length,
            int right,
            boolean store) {
        SoftMemoryRegion region = domain.region(key);
        if (region == null || !region.allows(domain, address, length, right) || !region.enter()) {
            return false;
        }
        try {
            if (store) {
                region.store(other, at, address, length);
            } else {
                region.load(address, other, at, length);
            }
            return true;
        } catch (IllegalStateException | InternalError gone) {
            // The application closed the memory's arena under the region, or the file behind it has no page there.
            return false;
        } finally {
            region.exit();
        }
    }
}
