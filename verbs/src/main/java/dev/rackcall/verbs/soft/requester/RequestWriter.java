package dev.rackcall.verbs.soft.requester;

import static dev.rackcall.verbs.soft.wire.FrameLayout.INT;
import static dev.rackcall.verbs.soft.wire.FrameLayout.LONG;

import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.WorkRequest;
import dev.rackcall.verbs.soft.queue.QueuePairCore;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import dev.rackcall.verbs.soft.wire.SendBuffer;
import java.lang.foreign.MemorySegment;

/** Writes a send request, or a part of it, as a frame. */
final class RequestWriter {
    private final QueuePairCore core;

    RequestWriter(QueuePairCore core) {
        this.core = core;
    }

    /**
     * Adds a frame to the buffer, which has room for it.
     *
     * @param first whether it opens a conversation with a DC target
     * @return false if the request's memory is gone
     */
    boolean write(SendSlot slot, long offset, int payload, boolean first, SendBuffer out) {
        boolean datagram = core.type() == QueuePairType.UD;
        if (datagram && core.device().faults().losesDatagram()) {
            return true;
        }
        MemorySegment frame = out.memory();
        int at = out.position();
        int length = FrameLayout.REQUEST_BYTES + payload;
        if (payload > 0 && !slot.load(core.memory(), offset, frame, at + FrameLayout.REQUEST_BYTES, payload)) {
            return false;
        }
        int kind = datagram ? FrameLayout.DATAGRAM : slot.opcode.code();
        FrameLayout.start(frame, at, length, kind, flags(slot, first));
        boolean addressed = core.type().isAddressedPerRequest();
        frame.set(
                INT,
                at + FrameLayout.DESTINATION,
                addressed ? slot.destinationQueuePair : core.remote().peer());
        frame.set(INT, at + FrameLayout.SOURCE, core.number());
        frame.set(INT, at + FrameLayout.PACKET, slot.packet);
        frame.set(INT, at + FrameLayout.MESSAGE_LENGTH, (int) slot.length);
        frame.set(INT, at + FrameLayout.OFFSET, (int) offset);
        frame.set(INT, at + FrameLayout.IMMEDIATE, slot.immediate);
        frame.set(LONG, at + FrameLayout.REMOTE_ADDRESS, slot.remoteAddress);
        // The low half of the word: a datagram's queue key or a region's key.
        int key = datagram ? (int) slot.destinationKey : slot.remoteKey;
        frame.set(LONG, at + FrameLayout.REMOTE_KEY, Integer.toUnsignedLong(key));
        frame.set(LONG, at + FrameLayout.COMPARE_ADD, slot.compareAdd);
        frame.set(LONG, at + FrameLayout.SWAP, slot.swap);
        frame.set(LONG, at + FrameLayout.TARGET_KEY, addressed ? slot.destinationKey : 0);
        out.advance(length);
        return true;
    }

    private int flags(SendSlot slot, boolean first) {
        boolean dynamic = core.type() == QueuePairType.DC_INITIATOR;
        int flags = slot.isAnswered() || dynamic ? FrameLayout.WANTS_ANSWER : 0;
        if ((slot.flags & WorkRequest.SOLICITED) != 0) {
            flags |= FrameLayout.IS_SOLICITED;
        }
        if (slot.opcode.hasImmediate()) {
            flags |= FrameLayout.HAS_IMMEDIATE;
        }
        return dynamic && first ? flags | FrameLayout.CONNECTS : flags;
    }
}
