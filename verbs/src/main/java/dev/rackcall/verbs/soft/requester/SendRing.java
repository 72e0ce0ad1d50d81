package dev.rackcall.verbs.soft.requester;

import static dev.rackcall.verbs.soft.wire.FrameLayout.PACKET_MASK;

import dev.rackcall.verbs.WorkRequest;

/**
 * Posted send requests. Positions count them: {@code done <= next <= posted}. Requests between done and next are sent
 * and not answered, those between next and posted are not sent. A slot is free again when its request, or a later one,
 * has produced a completion, so done may be ahead of freed. Guarded by the queue pair's monitor.
 */
final class SendRing {
    private final SendSlot[] slots;
    private long posted;
    private long next;
    private long done;
    private long freed;
    /** Bytes of the request at {@code next} that were sent. */
    private long offset;

    private int firstPacket;
    /** READs and atomics between done and next. */
    private int reads;

    SendRing(int capacity, int maxSegments, int maxInline) {
        slots = new SendSlot[capacity];
        for (int i = 0; i < capacity; i++) {
            slots[i] = new SendSlot(maxSegments, maxInline);
        }
    }

    /** Numbers the next posted request with this packet number and later ones consecutively. */
    void numberFrom(int packet) {
        firstPacket = packet - (int) posted;
    }

    boolean isFull() {
        return posted - freed == slots.length;
    }

    boolean isEmpty() {
        return done == posted;
    }

    boolean hasUnsent() {
        return next < posted;
    }

    /** Whether a request is in flight, even if only part of it was sent. The rest must go over the same link. */
    boolean isUnanswered() {
        return done < next || offset > 0;
    }

    SendSlot add(WorkRequest request) {
        SendSlot slot = slot(posted);
        slot.set(request, (firstPacket + (int) posted) & PACKET_MASK);
        posted++;
        return slot;
    }

    /** The request to send next, if {@link #hasUnsent}. */
    SendSlot toSend() {
        return slot(next);
    }

    long next() {
        return next;
    }

    long offset() {
        return offset;
    }

    int reads() {
        return reads;
    }

    /** Counts sent bytes of the request to send next. Returns whether all of it has been sent. */
    boolean sent(int bytes) {
        SendSlot slot = toSend();
        offset += bytes;
        if (offset < slot.outgoing()) {
            return false;
        }
        offset = 0;
        next++;
        if (slot.opcode.isReadOrAtomic()) {
            reads++;
        }
        return true;
    }

    /** Marks all unanswered requests as unsent. */
    void rewind() {
        next = done;
        offset = 0;
        reads = 0;
    }

    /** Marks all sent requests as done; their answers no longer matter. */
    void skipUnanswered() {
        done = next;
        reads = 0;
    }

    /** Whether the peer will answer any request in flight even if it succeeds. */
    boolean awaitsAnswer() {
        for (long i = done; i < next; i++) {
            if (slot(i).isAnswered()) {
                return true;
            }
        }
        return false;
    }

    /** Position of the request in flight with this packet number; negative if there is none. */
    long position(int packet) {
        int ahead = (packet - firstPacket - (int) done) & PACKET_MASK;
        return done + ahead < next ? done + ahead : -1;
    }

    SendSlot slot(long position) {
        return slots[(int) (position % slots.length)];
    }

    long done() {
        return done;
    }

    /** Ends the oldest request. */
    SendSlot end() {
        SendSlot slot = slot(done);
        if (done < next && slot.opcode.isReadOrAtomic()) {
            reads--;
        }
        done++;
        next = Math.max(next, done);
        return slot;
    }

    /** Frees the slots of all ended requests. */
    void free() {
        freed = done;
    }

    void drop() {
        done = posted;
        next = posted;
        freed = posted;
        offset = 0;
        reads = 0;
    }
}
