package dev.rackcall.verbs.soft.responder;

import static dev.rackcall.verbs.soft.wire.FrameLayout.INT;
import static dev.rackcall.verbs.soft.wire.FrameLayout.LONG;
import static dev.rackcall.verbs.soft.wire.FrameLayout.PACKET_MASK;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AsyncEvent;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Opcode;
import dev.rackcall.verbs.soft.queue.QueuePairCore;
import dev.rackcall.verbs.soft.queue.SoftLimits;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import dev.rackcall.verbs.soft.wire.Refusal;
import dev.rackcall.verbs.soft.wire.WireViolation;
import java.lang.foreign.MemorySegment;

/**
 * Performs the requests of one reliable peer, in order. It checks every frame against the rights of the queue pair and
 * the region before it touches memory. Guarded by its own monitor.
 */
final class Responder {
    private final QueuePairCore core;
    private final ReceiveSide side;
    private final ReceiveSlot slot;
    private final long[] old = new long[1];
    private int expected;
    /** The packet number that the last connection expected at its end: its requests may still arrive. */
    private int expectedBefore;

    /** Received bytes of the current message. */
    private long offset;
    /** Whether a receive request is taken for the current message. */
    private boolean receiving;
    /** How the receive request of a refused message ends, until it is completed; SUCCESS: there is none. */
    private CompletionStatus refused = CompletionStatus.SUCCESS;
    /** Whether the expected message was refused: its frames are skipped until the message begins again. */
    private boolean skipping;

    private int readsUnderWay;
    /** Whether a finished message is not acknowledged yet, because the peer did not request that. */
    private boolean pending;

    private int pendingQueuePair;
    private int pendingPacket;

    Responder(QueuePairCore core, ReceiveSide side) {
        this.core = core;
        this.side = side;
        slot = side.ring().newSlot();
    }

    synchronized void start(int firstPacket) {
        drop();
        expectedBefore = expected;
        expected = firstPacket;
        readsUnderWay = 0;
    }

    /** Flushes the receive request that is being filled. */
    synchronized void stop() {
        completeRefused();
        if (receiving) {
            side.flush(slot.id());
        }
        drop();
    }

    synchronized void drop() {
        refused = CompletionStatus.SUCCESS;
        pending = false;
        receiving = false;
        offset = 0;
        skipping = false;
    }

    /**
     * Completes the receive request of a message that {@link #handle} refused. Apart, because a queue pair enters the
     * error state before the program sees why.
     */
    synchronized void completeRefused() {
        if (refused != CompletionStatus.SUCCESS) {
            CompletionStatus status = refused;
            refused = CompletionStatus.SUCCESS;
            side.complete(slot, status);
        }
    }

    synchronized void readAnswered() {
        readsUnderWay--;
    }

    /**
     * Performs a request. Afterwards the caller calls {@link #completeRefused}.
     *
     * @return the event that puts the queue pair into the error state; UNKNOWN for none
     */
    synchronized AsyncEvent.Type handle(
            MemorySegment frame, long at, int payload, AnswerRing answers, WrongPackets wrong) throws WireViolation {
        int packet = frame.get(INT, at + FrameLayout.PACKET);
        if (packet != expected) {
            // Sent before the peer received a refusal, or numbered wrongly. In the second case the peer times out.
            if (!isNear(packet, expected) && !isNear(packet, expectedBefore)) {
                wrong.add(core.number(), packet);
            }
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
            return refuse(frame, at, answers, Refusal.INVALID_REQUEST);
        }
        return switch (opcode) {
            case SEND, SEND_WITH_IMMEDIATE, WRITE, WRITE_WITH_IMMEDIATE ->
                take(opcode, frame, at, payload, length, answers);
            case READ -> read(frame, at, length, answers);
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> atomic(opcode, frame, at, answers);
        };
    }

    /** Whether a queue of requests, the longest possible, may have both numbers. */
    private static boolean isNear(int packet, int other) {
        int ahead = (packet - other) & PACKET_MASK;
        return Math.min(ahead, PACKET_MASK + 1 - ahead) <= SoftLimits.MAX_WORK_REQUESTS;
    }

    private AsyncEvent.Type take(
            Opcode opcode, MemorySegment frame, long at, int payload, long length, AnswerRing answers) {
        boolean write = opcode == Opcode.WRITE || opcode == Opcode.WRITE_WITH_IMMEDIATE;
        if (offset == 0) {
            if (write && !isGranted(frame, at, length, Access.REMOTE_WRITE)) {
                return refuse(frame, at, answers, Refusal.ACCESS);
            }
            if (opcode.isReceived() && !side.ring().take(slot)) {
                answers.refuse(
                        frame, at, Refusal.NOT_READY_TO_RECEIVE, core.remote().rnrTimer());
                skipping = true;
                return AsyncEvent.Type.UNKNOWN;
            }
            receiving = opcode.isReceived();
            if (!write && length > slot.bytes()) {
                return refuse(frame, at, answers, Refusal.INVALID_REQUEST, CompletionStatus.LOCAL_LENGTH_ERROR);
            }
            if (!write && !slot.isUsable(core.memory(), Access.LOCAL_WRITE.bit())) {
                return refuse(frame, at, answers, Refusal.OPERATION, CompletionStatus.LOCAL_PROTECTION_ERROR);
            }
        }
        if (payload > 0 && !store(write, frame, at, payload)) {
            return write
                    ? refuse(frame, at, answers, Refusal.ACCESS)
                    : refuse(frame, at, answers, Refusal.OPERATION, CompletionStatus.LOCAL_PROTECTION_ERROR);
        }
        offset += payload;
        if (offset < length) {
            return AsyncEvent.Type.UNKNOWN;
        }
        return finish(frame, at, write, length, answers);
    }

    private AsyncEvent.Type finish(MemorySegment frame, long at, boolean write, long length, AnswerRing answers) {
        boolean wasReceiving = receiving;
        done();
        int flags = FrameLayout.flags(frame, at);
        int immediate = frame.get(INT, at + FrameLayout.IMMEDIATE);
        boolean kept =
                !wasReceiving || side.complete(slot, CompletionStatus.SUCCESS, write, length, flags, immediate, 0);
        if ((flags & FrameLayout.WANTS_ANSWER) != 0) {
            answers.acknowledge(frame, at);
            pending = false;
        } else {
            acknowledgeLater(frame, at, answers);
        }
        return kept ? AsyncEvent.Type.UNKNOWN : AsyncEvent.Type.QP_FATAL;
    }

    private void acknowledgeLater(MemorySegment frame, long at, AnswerRing answers) {
        pendingQueuePair = frame.get(INT, at + FrameLayout.SOURCE);
        pendingPacket = frame.get(INT, at + FrameLayout.PACKET);
        if (!pending) {
            pending = true;
            answers.addPending(this);
        }
    }

    /** Acknowledges finished messages without a request. Otherwise the peer takes them for lost if this side closes. */
    synchronized void acknowledgePending(AnswerRing answers) {
        if (pending) {
            pending = false;
            answers.acknowledge(pendingQueuePair, pendingPacket);
        }
    }

    private AsyncEvent.Type read(MemorySegment frame, long at, long length, AnswerRing answers) {
        if (readsUnderWay >= core.remote().maxReadAtomic()) {
            return refuse(frame, at, answers, Refusal.INVALID_REQUEST);
        }
        if (!isGranted(frame, at, length, Access.REMOTE_READ)) {
            return refuse(frame, at, answers, Refusal.ACCESS);
        }
        done();
        readsUnderWay++;
        answers.read(this, core.memory(), frame, at, length);
        return AsyncEvent.Type.UNKNOWN;
    }

    private AsyncEvent.Type atomic(Opcode opcode, MemorySegment frame, long at, AnswerRing answers) {
        long address = frame.get(LONG, at + FrameLayout.REMOTE_ADDRESS);
        if ((address & 7) != 0) {
            return refuse(frame, at, answers, Refusal.INVALID_REQUEST);
        }
        if (!isGranted(frame, at, Long.BYTES, Access.REMOTE_ATOMIC) || !exchange(opcode, frame, at, address)) {
            return refuse(frame, at, answers, Refusal.ACCESS);
        }
        done();
        answers.atomic(frame, at, old[0]);
        return AsyncEvent.Type.UNKNOWN;
    }

    private boolean exchange(Opcode opcode, MemorySegment frame, long at, long address) {
        int key = frame.get(INT, at + FrameLayout.REMOTE_KEY);
        long operand = frame.get(LONG, at + FrameLayout.COMPARE_ADD);
        return opcode == Opcode.FETCH_AND_ADD
                ? core.memory().fetchAndAdd(key, address, operand, old)
                : core.memory().compareAndSwap(key, address, operand, frame.get(LONG, at + FrameLayout.SWAP), old);
    }

    private void done() {
        expected = (expected + 1) & PACKET_MASK;
        offset = 0;
        receiving = false;
    }

    /** Whether queue pair and region both grant this right to the whole range. An empty range needs no right. */
    private boolean isGranted(MemorySegment frame, long at, long length, Access right) {
        int key = frame.get(INT, at + FrameLayout.REMOTE_KEY);
        long address = frame.get(LONG, at + FrameLayout.REMOTE_ADDRESS);
        return length == 0 || (core.grants(right) && core.memory().allows(key, address, length, right.bit()));
    }

    private boolean store(boolean write, MemorySegment frame, long at, int payload) {
        long from = at + FrameLayout.REQUEST_BYTES;
        if (!write) {
            return slot.store(core.memory(), offset, frame, from, payload);
        }
        int key = frame.get(INT, at + FrameLayout.REMOTE_KEY);
        long address = frame.get(LONG, at + FrameLayout.REMOTE_ADDRESS) + offset;
        return core.memory().store(key, address, frame, from, payload, Access.REMOTE_WRITE.bit());
    }

    private AsyncEvent.Type refuse(
            MemorySegment frame, long at, AnswerRing answers, Refusal refusal, CompletionStatus ownStatus) {
        receiving = false;
        refused = ownStatus;
        return refuse(frame, at, answers, refusal);
    }

    private AsyncEvent.Type refuse(MemorySegment frame, long at, AnswerRing answers, Refusal refusal) {
        // A refusal, like any later answer, acknowledges all messages before it.
        pending = false;
        answers.refuse(frame, at, refusal, 0);
        // A DC target continues to serve other initiators; this one has to begin its message again.
        skipping = true;
        return refusal == Refusal.ACCESS ? AsyncEvent.Type.QP_ACCESS_ERROR : AsyncEvent.Type.QP_REQUEST_ERROR;
    }
}
