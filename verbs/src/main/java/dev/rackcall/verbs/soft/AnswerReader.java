package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Opcode;
import java.lang.foreign.MemorySegment;

/**
 * What a responder says about requests. Each answer also says that all requests before it are done, since they are done in order. Answers to
 * what is not under way are answers to a former life of the queue pair: ignored. Guarded by the queue pair's monitor.
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

    /** All requests up to this packet number are done. */
    void acknowledged(int packet) {
        long position = finishBefore(packet);
        if (position >= 0
                && ring.done() == position
                && !ring.slot(position).opcode.isReadOrAtomic()) {
            queue.finish();
            queue.proceed();
        }
    }

    /** Part of what a READ asked for has come. */
    void data(int packet, int at, MemorySegment frame, long from, int length) throws ProtocolException {
        long position = finishBefore(packet);
        if (position < 0) {
            return;
        }
        SendSlot slot = ring.slot(position);
        if (slot.opcode != Opcode.READ
                || at != slot.received
                || length > slot.length - slot.received
                || ring.done() < position) {
            throw new ProtocolException("unasked data: packet " + packet + ", offset " + at + ", " + length + " bytes");
        }
        if (!slot.list.store(queue.owner().domain(), at, frame, from, length)) {
            queue.fail(CompletionStatus.LOCAL_PROTECTION_ERROR);
            return;
        }
        slot.received += length;
        if (slot.received == slot.length) {
            queue.finish();
        }
        queue.proceed();
    }

    /** The old value of an atomic has come: the 8 bytes of the frame at this place, in this machine's order. */
    void value(int packet, MemorySegment frame, long from) throws ProtocolException {
        long position = finishBefore(packet);
        if (position < 0) {
            return;
        }
        SendSlot slot = ring.slot(position);
        if (!slot.opcode.isAtomic() || ring.done() < position) {
            throw new ProtocolException("unasked value: packet " + packet);
        }
        if (slot.list.store(queue.owner().domain(), 0, frame, from, Long.BYTES)) {
            queue.finish();
            queue.proceed();
        } else {
            queue.fail(CompletionStatus.LOCAL_PROTECTION_ERROR);
        }
    }

    /**
     * The responder did not do this request.
     *
     * @return nanoseconds after which to try again; negative if not
     */
    long refused(int packet, Refusal refusal, long detail) {
        if (retries.isPaused()) {
            return -1;
        }
        // Who does not answer at all says nothing about the requests before, either.
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
     * Finishes what lies before this packet, as far as it needs no answer of its own. Returns the packet's position; negative if it is not
     * under way, or not any more.
     */
    private long finishBefore(int packet) {
        long position = ring.position(packet);
        while (ring.done() < position && !ring.slot(ring.done()).opcode.isReadOrAtomic()) {
            queue.finish();
        }
        // A completion that got lost has flushed everything.
        return ring.done() > position ? -1 : position;
    }
}
