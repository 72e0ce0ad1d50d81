package dev.rackcall.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.verbs.ffi.Structs.IbvRecvWr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The memory for a received message: a reusable struct ibv_recv_wr with room for its segments. Posting copies it, so
 * one object serves any number of posts. Only one thread may use it at a time.
 */
public final class ReceiveRequest {
    private static final long NEXT = IbvRecvWr.NEXT.offset();
    private static final long LIST = IbvRecvWr.SG_LIST.offset();
    private static final long COUNT = IbvRecvWr.NUM_SGE.offset();
    private static final long BYTES = IbvRecvWr.BYTES;

    private final MemorySegment struct;
    private final SegmentList segments;

    private ReceiveRequest(int maxSegments) {
        struct = Arena.ofAuto().allocate(BYTES + maxSegments * SegmentList.ENTRY_BYTES, Long.BYTES);
        segments = new SegmentList(struct, BYTES, maxSegments);
        struct.set(JAVA_LONG, NEXT, 0);
        struct.set(JAVA_LONG, LIST, struct.address() + BYTES);
    }

    /** With room for this many segments. */
    public static ReceiveRequest create(int maxSegments) {
        if (maxSegments < 0) {
            throw new IllegalArgumentException("a request cannot have " + maxSegments + " segments");
        }
        return new ReceiveRequest(maxSegments);
    }

    /**
     * Resets it to this id and no segments. A receive without segments accepts empty messages and WRITEs with
     * immediate.
     */
    public ReceiveRequest start(long id) {
        struct.set(JAVA_LONG, 0, id);
        segments.clear();
        struct.set(JAVA_INT, COUNT, 0);
        return this;
    }

    /** Adds a part of a region, which needs the right LOCAL_WRITE. */
    public ReceiveRequest into(MemoryRegion region, long offset, int length) {
        segments.add(region, offset, length);
        struct.set(JAVA_INT, COUNT, segments.count());
        return this;
    }

    /** Adds a segment by raw numbers; the device checks them when a message arrives. */
    public ReceiveRequest into(long address, int length, int localKey) {
        segments.add(address, length, localKey);
        struct.set(JAVA_INT, COUNT, segments.count());
        return this;
    }

    /** The id of its completion. */
    public long id() {
        return struct.get(JAVA_LONG, 0);
    }

    /** Number of segments. */
    public int segments() {
        return segments.count();
    }

    /** Address of a segment. */
    public long segmentAddress(int index) {
        return segments.address(index);
    }

    /** Length of a segment in bytes. */
    public int segmentLength(int index) {
        return segments.length(index);
    }

    /** Local key of a segment. */
    public int segmentKey(int index) {
        return segments.key(index);
    }

    /** The struct ibv_recv_wr, for a provider; lives as long as this object. */
    public MemorySegment struct() {
        return struct;
    }
}
