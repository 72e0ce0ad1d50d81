package dev.rackcall.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.verbs.ffi.Structs.IbvSge;
import java.lang.foreign.MemorySegment;

/** The scatter-gather entries behind a request's struct (struct ibv_sge). */
final class SegmentList {
    static final long ENTRY_BYTES = IbvSge.BYTES;
    private static final long LENGTH = IbvSge.LENGTH.offset();
    private static final long KEY = IbvSge.LKEY.offset();

    private final MemorySegment struct;
    private final long start;
    private final int capacity;
    private int count;

    SegmentList(MemorySegment struct, long start, int capacity) {
        this.struct = struct;
        this.start = start;
        this.capacity = capacity;
    }

    void clear() {
        count = 0;
    }

    int count() {
        return count;
    }

    void add(MemoryRegion region, long offset, int length) {
        if (offset < 0 || length < 0 || offset > region.byteSize() - length) {
            throw new IndexOutOfBoundsException("offset " + offset + " and length " + length
                    + " lie outside of a memory region of " + region.byteSize() + " bytes");
        }
        add(region.address() + offset, length, region.localKey());
    }

    void add(long address, int length, int key) {
        if (count == capacity) {
            throw new IllegalStateException("this request has room for " + capacity + " segments; create it with more");
        }
        long entry = start + count * ENTRY_BYTES;
        struct.set(JAVA_LONG, entry, address);
        struct.set(JAVA_INT, entry + LENGTH, length);
        struct.set(JAVA_INT, entry + KEY, key);
        count++;
    }

    long address(int index) {
        return struct.get(JAVA_LONG, entry(index));
    }

    int length(int index) {
        return struct.get(JAVA_INT, entry(index) + LENGTH);
    }

    int key(int index) {
        return struct.get(JAVA_INT, entry(index) + KEY);
    }

    private long entry(int index) {
        if (index < 0 || index >= count) {
            throw new IndexOutOfBoundsException("segment " + index + " of " + count);
        }
        return start + index * ENTRY_BYTES;
    }
}
