package dev.rackcall.verbs.soft;

import static dev.rackcall.verbs.soft.FrameLayout.INT;

import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Takes datagrams: what has no receive request, the wrong queue key or is too long is dropped, as the word says. The first 40 bytes of a
 * receive request get a global routing header: the sender's GID at 8, the own one at 24.
 */
final class DatagramReceiver {
    static final int HEADER_BYTES = 40;
    private static final int SENDER = 8;
    private static final int RECEIVER = 24;

    private final SoftQueuePair owner;
    private final ReceiveSide side;
    private final ReceiveSlot slot;
    private final MemorySegment header = Arena.ofAuto().allocate(HEADER_BYTES);

    DatagramReceiver(SoftQueuePair owner, ReceiveSide side) {
        this.owner = owner;
        this.side = side;
        slot = side.ring().newSlot();
    }

    /** @return false if the completion got lost */
    synchronized boolean handle(MemorySegment frame, long at, int payload, Gid sender) {
        int length = frame.get(INT, at + FrameLayout.MESSAGE_LENGTH);
        boolean whole = frame.get(INT, at + FrameLayout.OFFSET) == 0 && length == payload;
        // The key of a datagram travels where a WRITE has its region's key.
        boolean welcome = whole
                && owner.peer().queueKey() == frame.get(INT, at + FrameLayout.REMOTE_KEY)
                && payload <= owner.maxMessageBytes();
        if (!welcome || !side.ring().take(slot)) {
            return true;
        }
        if (slot.capacity() < HEADER_BYTES + payload) {
            return side.complete(slot, CompletionStatus.LOCAL_LENGTH_ERROR, false, 0, 0, 0, 0);
        }
        putGid(SENDER, sender);
        putGid(RECEIVER, owner.domain().context().gid());
        if (!slot.store(owner.domain(), 0, header, 0, HEADER_BYTES)
                || !slot.store(owner.domain(), HEADER_BYTES, frame, at + FrameLayout.REQUEST_BYTES, payload)) {
            return side.complete(slot, CompletionStatus.LOCAL_PROTECTION_ERROR, false, 0, 0, 0, 0);
        }
        return side.complete(
                slot,
                CompletionStatus.SUCCESS,
                false,
                HEADER_BYTES + (long) payload,
                FrameLayout.flags(frame, at),
                frame.get(INT, at + FrameLayout.IMMEDIATE),
                frame.get(INT, at + FrameLayout.SOURCE));
    }

    private void putGid(int at, Gid gid) {
        FrameLayout.networkLong(header, at, gid.high());
        FrameLayout.networkLong(header, at + Long.BYTES, gid.low());
    }
}
