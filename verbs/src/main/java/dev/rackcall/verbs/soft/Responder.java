package dev.rackcall.verbs.soft;

import static dev.rackcall.verbs.soft.FrameLayout.INT;
import static dev.rackcall.verbs.soft.FrameLayout.LONG;
import static dev.rackcall.verbs.soft.FrameLayout.PACKET_MASK;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AsyncEvent;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Opcode;
import java.lang.foreign.MemorySegment;

/**
 * The other end of a {@link SendQueue}: does what one reliable peer asks, in order. Whatever the frame says is checked here against the
 * queue pair's and the region's rights before memory is touched. Guarded by its own monitor.
 */
final class Responder {
    private final SoftQueuePair owner;
    private final ReceiveSide side;
    private final ReceiveSlot slot;
    private final OldValue oldValue = new OldValue();
    private int expected;
    /** Bytes of the message under way that have come. */
    private long offset;
    /** A receive request is taken for the message under way. */
    private boolean receiving;
    /** The expected message was refused: what is left of it is passed over until it begins again. */
    private boolean skipping;

    private int readsUnderWay;
    /** A done message that the peer did not ask to have acknowledged. */
    private boolean owes;

    private int owedQueuePair;
    private int owedPacket;

    Responder(SoftQueuePair owner, ReceiveSide side) {
        this.owner = owner;
        this.side = side;
        slot = side.ring().newSlot();
    }

    synchronized void start(int firstPacket) {
        drop();
        expected = firstPacket;
        readsUnderWay = 0;
    }

    /** Flushes the receive request that is being filled. */
    synchronized void stop() {
        if (receiving) {
            side.flush(slot.id());
        }
        drop();
    }

    synchronized void drop() {
        owes = false;
        receiving = false;
        offset = 0;
        skipping = false;
    }

    synchronized void readAnswered() {
        readsUnderWay--;
    }

    /**
     * Does a request.
     *
     * @return what happens to the queue pair: nothing (UNKNOWN) or the event with which it goes to its error state
     */
    synchronized AsyncEvent.Type handle(MemorySegment frame, long at, int payload, ResponderLink link) {
        if (frame.get(INT, at + FrameLayout.PACKET) != expected) {
            // Sent before the peer heard of a refusal, or numbered wrongly; the peer's patience ends that.
            return AsyncEvent.Type.UNKNOWN;
        }
        long start = Integer.toUnsignedLong(frame.get(INT, at + FrameLayout.OFFSET));
        if (skipping && start != 0) {
            return AsyncEvent.Type.UNKNOWN;
        }
        skipping = false;
        long length = Integer.toUnsignedLong(frame.get(INT, at + FrameLayout.MESSAGE_LENGTH));
        Opcode opcode = Opcode.ofCode(FrameLayout.kind(frame, at));
        boolean carries = !opcode.isReadOrAtomic();
        if (start != offset
                || length > SoftLimits.MAX_MESSAGE_BYTES
                || (carries ? payload > length - start : payload != 0)
                || (carries && payload == 0 && length != 0)) {
            return refuse(frame, at, link, Refusal.INVALID_REQUEST);
        }
        return switch (opcode) {
            case SEND, SEND_WITH_IMMEDIATE, WRITE, WRITE_WITH_IMMEDIATE ->
                take(opcode, frame, at, payload, length, link);
            case READ -> read(frame, at, length, link);
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> atomic(opcode, frame, at, link);
        };
    }

    private AsyncEvent.Type take(
            Opcode opcode, MemorySegment frame, long at, int payload, long length, ResponderLink link) {
        boolean write = opcode == Opcode.WRITE || opcode == Opcode.WRITE_WITH_IMMEDIATE;
        if (offset == 0) {
            if (write && !isGranted(frame, at, length, Access.REMOTE_WRITE)) {
                return refuse(frame, at, link, Refusal.ACCESS);
            }
            if (opcode.isReceived() && !side.ring().take(slot)) {
                link.refuse(
                        frame,
                        at,
                        Refusal.NOT_READY_TO_RECEIVE,
                        owner.peer().remote().rnrTimer());
                skipping = true;
                return AsyncEvent.Type.UNKNOWN;
            }
            receiving = opcode.isReceived();
            if (!write && length > slot.capacity()) {
                return refuse(frame, at, link, Refusal.INVALID_REQUEST, CompletionStatus.LOCAL_LENGTH_ERROR);
            }
            if (!write && !slot.isUsable(owner.domain())) {
                return refuse(frame, at, link, Refusal.OPERATION, CompletionStatus.LOCAL_PROTECTION_ERROR);
            }
        }
        if (payload > 0 && !store(write, frame, at, payload)) {
            return write
                    ? refuse(frame, at, link, Refusal.ACCESS)
                    : refuse(frame, at, link, Refusal.OPERATION, CompletionStatus.LOCAL_PROTECTION_ERROR);
        }
        offset += payload;
        if (offset < length) {
            return AsyncEvent.Type.UNKNOWN;
        }
        return finish(frame, at, write, length, link);
    }

    private AsyncEvent.Type finish(MemorySegment frame, long at, boolean write, long length, ResponderLink link) {
        boolean wasReceiving = receiving;
        done();
        int flags = FrameLayout.flags(frame, at);
        int immediate = frame.get(INT, at + FrameLayout.IMMEDIATE);
        boolean kept =
                !wasReceiving || side.complete(slot, CompletionStatus.SUCCESS, write, length, flags, immediate, 0);
        if ((flags & FrameLayout.WANTS_ANSWER) != 0) {
            link.acknowledge(frame, at);
            owes = false;
        } else {
            owe(frame, at, link);
        }
        return kept ? AsyncEvent.Type.UNKNOWN : AsyncEvent.Type.QP_FATAL;
    }

    private void owe(MemorySegment frame, long at, ResponderLink link) {
        owedQueuePair = frame.get(INT, at + FrameLayout.SOURCE);
        owedPacket = frame.get(INT, at + FrameLayout.PACKET);
        if (!owes) {
            owes = true;
            link.owes(this);
        }
    }

    /** Acknowledges what is done and was not asked for, so that the peer's end later does not make it look undone. */
    synchronized void settle(ResponderLink link) {
        if (owes) {
            owes = false;
            link.acknowledge(owedQueuePair, owedPacket);
        }
    }

    private AsyncEvent.Type read(MemorySegment frame, long at, long length, ResponderLink link) {
        if (readsUnderWay >= owner.peer().remote().maxReadAtomic()) {
            return refuse(frame, at, link, Refusal.INVALID_REQUEST);
        }
        if (!isGranted(frame, at, length, Access.REMOTE_READ)) {
            return refuse(frame, at, link, Refusal.ACCESS);
        }
        done();
        readsUnderWay++;
        link.answerRead(this, owner, frame, at, length);
        return AsyncEvent.Type.UNKNOWN;
    }

    private AsyncEvent.Type atomic(Opcode opcode, MemorySegment frame, long at, ResponderLink link) {
        long address = frame.get(LONG, at + FrameLayout.REMOTE_ADDRESS);
        if ((address & 7) != 0) {
            return refuse(frame, at, link, Refusal.INVALID_REQUEST);
        }
        SoftMemoryRegion region = owner.domain().region(frame.get(INT, at + FrameLayout.REMOTE_KEY));
        if (region == null
                || !isGranted(frame, at, Long.BYTES, Access.REMOTE_ATOMIC)
                || !oldValue.exchange(owner.domain().context().atomics(), region, opcode, frame, at, address)) {
            return refuse(frame, at, link, Refusal.ACCESS);
        }
        done();
        link.answerAtomic(frame, at, oldValue.get());
        return AsyncEvent.Type.UNKNOWN;
    }

    private void done() {
        expected = (expected + 1) & PACKET_MASK;
        offset = 0;
        receiving = false;
    }

    /** Whether queue pair and region both give this right to all of the range; to no bytes at all everybody has it. */
    private boolean isGranted(MemorySegment frame, long at, long length, Access right) {
        if (length == 0) {
            return true;
        }
        SoftMemoryRegion region = owner.domain().region(frame.get(INT, at + FrameLayout.REMOTE_KEY));
        long address = frame.get(LONG, at + FrameLayout.REMOTE_ADDRESS);
        return owner.peer().grants(right)
                && region != null
                && region.allows(owner.domain(), address, length, right.bit());
    }

    private boolean store(boolean write, MemorySegment frame, long at, int payload) {
        long from = at + FrameLayout.REQUEST_BYTES;
        if (!write) {
            return slot.store(owner.domain(), offset, frame, from, payload);
        }
        SoftMemoryRegion region = owner.domain().region(frame.get(INT, at + FrameLayout.REMOTE_KEY));
        long address = frame.get(LONG, at + FrameLayout.REMOTE_ADDRESS) + offset;
        // Asked again for each part: the region may have been closed, or its number given away, since the first.
        if (region == null
                || !region.allows(owner.domain(), address, payload, Access.REMOTE_WRITE.bit())
                || !region.enter()) {
            return false;
        }
        try {
            region.store(frame, from, address, payload);
            return true;
        } catch (IllegalStateException | InternalError gone) {
            return false;
        } finally {
            region.exit();
        }
    }

    private AsyncEvent.Type refuse(
            MemorySegment frame, long at, ResponderLink link, Refusal refusal, CompletionStatus ownStatus) {
        receiving = false;
        side.complete(slot, ownStatus, false, 0, 0, 0, 0);
        return refuse(frame, at, link, refusal);
    }

    private AsyncEvent.Type refuse(MemorySegment frame, long at, ResponderLink link, Refusal refusal) {
        // A refusal, as any later answer, says that all before it is done.
        owes = false;
        link.refuse(frame, at, refusal, 0);
        // A DC target goes on serving others; this initiator has to begin anew.
        skipping = true;
        return refusal == Refusal.ACCESS ? AsyncEvent.Type.QP_ACCESS_ERROR : AsyncEvent.Type.QP_REQUEST_ERROR;
    }
}
