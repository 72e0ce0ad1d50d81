package dev.rackcall.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.verbs.ffi.Member;
import dev.rackcall.verbs.ffi.Structs.IbvSge;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** What send and receive requests share: a struct that begins with the id, and the scatter-gather entries behind it. */
public abstract sealed class PostedRequest permits WorkRequest, ReceiveRequest {
    private static final long ENTRY_BYTES = IbvSge.BYTES;
    private static final long LENGTH = IbvSge.LENGTH.offset();
    private static final long KEY = IbvSge.LKEY.offset();

    private final MemorySegment struct;
    private final Member.OfInt counted;
    private final long start;
    private final int capacity;
    private int count;

    /**
     * @param structBytes size of the struct
     * @param list its pointer to the segments
     * @param counted its number of segments
     * @param moreBytes memory behind the segments
     */
    PostedRequest(long structBytes, Member.OfLong list, Member.OfInt counted, int maxSegments, int moreBytes) {
        if (maxSegments < 0 || moreBytes < 0 || (moreBytes > 0 && maxSegments == 0)) {
            throw new IllegalArgumentException(
                    "a request cannot have " + maxSegments + " segments and " + moreBytes + " bytes inline");
        }
        this.counted = counted;
        start = structBytes;
        capacity = maxSegments;
        struct = Arena.ofAuto().allocate(structBytes + maxSegments * ENTRY_BYTES + moreBytes, Long.BYTES);
        list.set(struct, struct.address() + structBytes);
    }

    /** The id of its completion. */
    public final long id() {
        return struct.get(JAVA_LONG, 0);
    }

    /** Number of segments. */
    public final int segments() {
        return count;
    }

    /** Address of a segment. */
    public final long segmentAddress(int index) {
        return struct.get(JAVA_LONG, entry(index));
    }

    /** Length of a segment in bytes. */
    public final int segmentLength(int index) {
        return struct.get(JAVA_INT, entry(index) + LENGTH);
    }

    /** Local key of a segment. */
    public final int segmentKey(int index) {
        return struct.get(JAVA_INT, entry(index) + KEY);
    }

    /** The C struct, for a provider; lives as long as this object. */
    public final MemorySegment struct() {
        return struct;
    }

    /** The memory behind the segments. */
    final MemorySegment more() {
        return struct.asSlice(start + capacity * ENTRY_BYTES);
    }

    final void begin(long id) {
        struct.set(JAVA_LONG, 0, id);
        clearSegments();
    }

    final void clearSegments() {
        count = 0;
        counted.set(struct, 0);
    }

    final void add(MemoryRegion region, long offset, int length) {
        if (offset < 0 || length < 0 || offset > region.byteSize() - length) {
            throw new IndexOutOfBoundsException("offset " + offset + " and length " + length
                    + " lie outside of a memory region of " + region.byteSize() + " bytes");
        }
        add(region.address() + offset, length, region.localKey());
    }

    final void add(long address, int length, int key) {
        if (count == capacity) {
            throw new IllegalStateException("this request has room for " + capacity + " segments; create it with more");
        }
        long entry = start + count * ENTRY_BYTES;
        struct.set(JAVA_LONG, entry, address);
        struct.set(JAVA_INT, entry + LENGTH, length);
        struct.set(JAVA_INT, entry + KEY, key);
        counted.set(struct, ++count);
    }

    private long entry(int index) {
        if (index < 0 || index >= count) {
            throw new IndexOutOfBoundsException("segment " + index + " of " + count);
        }
        return start + index * ENTRY_BYTES;
    }
}
