package dev.rackcall.verbs.soft.memory;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.PostedRequest;
import java.lang.foreign.MemorySegment;

/** The local memory of a posted request. */
public class ScatterList {
    private final long[] addresses;
    private final int[] lengths;
    private final int[] keys;
    private int count;
    private long bytes;

    public ScatterList(int capacity) {
        addresses = new long[capacity];
        lengths = new int[capacity];
        keys = new int[capacity];
    }

    public final void clear() {
        count = 0;
        bytes = 0;
    }

    private void add(long address, int length, int key) {
        addresses[count] = address;
        lengths[count] = length;
        keys[count] = key;
        count++;
        bytes += Integer.toUnsignedLong(length);
    }

    /** Copies the segments of a request. */
    public final void set(PostedRequest request) {
        clear();
        for (int i = 0; i < request.segments(); i++) {
            add(request.segmentAddress(i), request.segmentLength(i), request.segmentKey(i));
        }
    }

    public final void set(ScatterList other) {
        clear();
        for (int i = 0; i < other.count; i++) {
            add(other.addresses[i], other.lengths[i], other.keys[i]);
        }
    }

    /** Bytes of all segments. */
    public final long bytes() {
        return bytes;
    }

    /** Whether keys, bounds and rights of all segments are valid. */
    public final boolean isUsable(DomainMemory memory, int right) {
        for (int i = 0; i < count; i++) {
            if (lengths[i] != 0 && !memory.allows(keys[i], addresses[i], Integer.toUnsignedLong(lengths[i]), right)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Stores bytes at this offset of all segments together; false if a region does not allow it. The caller has checked
     * that they fit.
     */
    public final boolean store(DomainMemory memory, long offset, MemorySegment from, long at, int length) {
        return move(memory, offset, from, at, length, true);
    }

    /** Loads bytes from this offset of all segments together; false if a region does not allow it. */
    public final boolean load(DomainMemory memory, long offset, MemorySegment to, long at, int length) {
        return move(memory, offset, to, at, length, false);
    }

    private boolean move(DomainMemory memory, long offset, MemorySegment other, long at, int length, boolean store) {
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
            long address = addresses[i] + skip;
            boolean moved = store
                    ? memory.store(keys[i], address, other, position, part, Access.LOCAL_WRITE.bit())
                    : memory.load(keys[i], address, other, position, part, 0);
            if (!moved) {
                return false;
            }
            position += part;
            left -= part;
            skip = 0;
        }
        return true;
    }
}
