package dev.rackcall.verbs.soft.responder;

import static dev.rackcall.verbs.soft.wire.FrameLayout.INT;

import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.soft.queue.QueuePairCore;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Receives datagrams. A datagram without a receive request, with the wrong queue key, or that is too long is dropped.
 * The first 40 bytes of the receive request get a global routing header: the sender's GID at 8, the receiver's at 24.
 */
final class DatagramReceiver {
    static final int HEADER_BYTES = 40;
    private static final int SENDER = 8;
    private static final int RECEIVER = 24;

    private final QueuePairCore core;
    private final ReceiveSide side;
    private final ReceiveSlot slot;
    private final MemorySegment header = Arena.ofAuto().allocate(HEADER_BYTES);

    DatagramReceiver(QueuePairCore core, ReceiveSide side) {
        this.core = core;
        this.side = side;
        slot = side.ring().newSlot();
    }

    /** Handles a datagram; false if its completion was lost. */
    synchronized boolean handle(MemorySegment frame, long at, int payload, Gid sender) {
        int length = frame.get(INT, at + FrameLayout.MESSAGE_LENGTH);
        boolean whole = frame.get(INT, at + FrameLayout.OFFSET) == 0 && length == payload;
        // The key of a datagram travels where a WRITE has its region's key.
        boolean accepted = whole
                && core.queueKey() == frame.get(INT, at + FrameLayout.REMOTE_KEY)
                && payload <= core.maxMessageBytes();
        if (!accepted || !side.ring().take(slot)) {
            return true;
        }
        if (slot.capacity() < HEADER_BYTES + payload) {
            return side.complete(slot, CompletionStatus.LOCAL_LENGTH_ERROR, false, 0, 0, 0, 0);
        }
        putGid(SENDER, sender);
        putGid(RECEIVER, core.device().gid());
        if (!slot.store(core.memory(), 0, header, 0, HEADER_BYTES)
                || !slot.store(core.memory(), HEADER_BYTES, frame, at + FrameLayout.REQUEST_BYTES, payload)) {
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
