package dev.rackcall.verbs.soft.requester;

import static dev.rackcall.verbs.soft.wire.FrameLayout.INT;
import static dev.rackcall.verbs.soft.wire.FrameLayout.LONG;

import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Opcode;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import dev.rackcall.verbs.soft.wire.Refusal;
import dev.rackcall.verbs.soft.wire.WireViolation;
import java.lang.foreign.MemorySegment;

/**
 * Handles a responder's answers. Each answer also acknowledges all requests before it, since they are done in order.
 * Answers to requests that are not in flight belong to an earlier connection and are ignored. Guarded by the queue
 * pair's monitor.
 */
final class AnswerReader {
    private final SendQueue queue;
    private final SendRing ring;
    private final Retries retries;

    AnswerReader(SendQueue queue, SendRing ring, Retries retries) {
        this.queue = queue;
        this.ring = ring;
        this.retries = retries;
    }

    /** Handles an answer. Returns the nanoseconds after which to retry; negative if not at all. */
    long read(MemorySegment frame, long at, int length) throws WireViolation {
        int packet = frame.get(INT, at + FrameLayout.RESPONSE_PACKET) & FrameLayout.PACKET_MASK;
        int kind = FrameLayout.kind(frame, at);
        switch (kind) {
            case FrameLayout.ACKNOWLEDGE -> acknowledged(packet);
            case FrameLayout.READ_DATA -> {
                int offset = frame.get(INT, at + FrameLayout.RESPONSE_OFFSET);
                data(packet, offset, frame, at + FrameLayout.RESPONSE_BYTES, length - FrameLayout.RESPONSE_BYTES);
            }
            case FrameLayout.ATOMIC_VALUE -> value(packet, frame, at + FrameLayout.VALUE);
            case FrameLayout.REFUSE -> {
                Refusal refusal = Refusal.ofCode(FrameLayout.flags(frame, at));
                return refused(packet, refusal, frame.get(LONG, at + FrameLayout.VALUE));
            }
            default -> throw new WireViolation("an answer of kind " + kind);
        }
        return -1;
    }

    /** All requests up to this packet number are done. */
    private void acknowledged(int packet) {
        long position = finishBefore(packet);
        if (position >= 0
                && ring.done() == position
                && !ring.slot(position).opcode.isReadOrAtomic()) {
            queue.finish();
            queue.proceed();
        }
    }

    /** A part of the data for a READ. */
    private void data(int packet, int at, MemorySegment frame, long from, int length) throws WireViolation {
        long position = finishBefore(packet);
        if (position < 0) {
            return;
        }
        SendSlot slot = ring.slot(position);
        if (slot.opcode != Opcode.READ
                || at != slot.received
                || length > slot.length - slot.received
                || ring.done() < position) {
            throw new WireViolation("unrequested data: packet " + packet + ", offset " + at + ", " + length + " bytes");
        }
        if (!slot.list.store(queue.memory(), at, frame, from, length)) {
            queue.fail(CompletionStatus.LOCAL_PROTECTION_ERROR);
            return;
        }
        slot.received += length;
        if (slot.received == slot.length) {
            queue.finish();
        }
        queue.proceed();
    }

    /** The old value for an atomic: the 8 bytes of the frame at this place, in this machine's order. */
    private void value(int packet, MemorySegment frame, long from) throws WireViolation {
        long position = finishBefore(packet);
        if (position < 0) {
            return;
        }
        SendSlot slot = ring.slot(position);
        if (!slot.opcode.isAtomic() || ring.done() < position) {
            throw new WireViolation("unrequested value: packet " + packet);
        }
        if (slot.list.store(queue.memory(), 0, frame, from, Long.BYTES)) {
            queue.finish();
            queue.proceed();
        } else {
            queue.fail(CompletionStatus.LOCAL_PROTECTION_ERROR);
        }
    }

    /** The responder refused this request. Returns the nanoseconds after which to retry; negative if not at all. */
    private long refused(int packet, Refusal refusal, long detail) {
        if (retries.isPaused()) {
            return -1;
        }
        // Unlike all other refusals, NO_ANSWER does not acknowledge the requests before it.
        long position = refusal == Refusal.NO_ANSWER ? ring.position(packet) : finishBefore(packet);
        if (position < 0) {
            return -1;
        }
        boolean again = refusal == Refusal.NO_ANSWER || refusal == Refusal.NOT_READY_TO_RECEIVE;
        long pause = again ? retries.pause(refusal, detail) : -1;
        if (pause < 0) {
            queue.fail(refusal.status());
        } else {
            queue.rewind();
        }
        return pause;
    }

    /**
     * Finishes the requests before this packet that need no answer of their own. Returns the packet's position;
     * negative if it is not in flight.
     */
    private long finishBefore(int packet) {
        long position = ring.position(packet);
        while (ring.done() < position && !ring.slot(ring.done()).opcode.isReadOrAtomic()) {
            queue.finish();
        }
        // Negative, too, if a lost completion has flushed all requests.
        return ring.done() > position ? -1 : position;
    }
}
