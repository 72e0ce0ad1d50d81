package dev.rackcall.verbs;

import dev.rackcall.verbs.ffi.Structs.IbvRecvWr;

/**
 * The memory for a received message: a reusable struct ibv_recv_wr with room for its segments. Posting copies it, so
 * one object serves any number of posts. Only one thread may use it at a time.
 */
public final class ReceiveRequest extends PostedRequest {
    private ReceiveRequest(int maxSegments) {
        super(IbvRecvWr.BYTES, IbvRecvWr.SG_LIST, IbvRecvWr.NUM_SGE, maxSegments, 0);
    }

    /** With room for this many segments. */
    public static ReceiveRequest create(int maxSegments) {
        return new ReceiveRequest(maxSegments);
    }

    /**
     * Resets it to this id and no segments. A receive without segments accepts empty messages and WRITEs with
     * immediate.
     */
    public ReceiveRequest start(long id) {
        begin(id);
        return this;
    }

    /** Adds a part of a region, which needs the right LOCAL_WRITE. */
    public ReceiveRequest into(MemoryRegion region, long offset, int length) {
        add(region, offset, length);
        return this;
    }

    /** Adds a segment by raw numbers; the device checks them when a message arrives. */
    public ReceiveRequest into(long address, int length, int localKey) {
        add(address, length, localKey);
        return this;
    }
}
