package dev.rackcall.verbs.soft;

import static dev.rackcall.verbs.soft.FrameLayout.PACKET_MASK;

import dev.rackcall.verbs.WorkRequest;

/**
 * Posted send requests. Positions count them: {@code done <= next <= posted}; between done and next lies what was sent and not answered,
 * between next and posted what was not sent. A place is free again when its request, or a later one, has made a completion: done may be ahead
 * of freed. Guarded by the queue pair's monitor.
 */
final class SendRing {
    private final SendSlot[] slots;
    private long posted;
    private long next;
    private long done;
    private long freed;
    /** Bytes of the request at {@code next} that are sent. */
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

    /** Gives the next request to be posted this number. */
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

    /** Whether something is on its way, be it the first part of a message: the rest of that cannot go another way. */
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

    /** So many bytes of the request to send next are on their way. Returns whether that is all of it. */
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

    /** Everything that is not answered is to be sent again. */
    void rewind() {
        next = done;
        offset = 0;
        reads = 0;
    }

    /** Takes what was sent, whose answers do not matter any more, as done. */
    void skipUnanswered() {
        done = next;
        reads = 0;
    }

    /** Whether a request waits whose answer the responder owes even if all goes well. */
    boolean awaitsAnswer() {
        for (long i = done; i < next; i++) {
            if (slot(i).isAnswered()) {
                return true;
            }
        }
        return false;
    }

    /** Position of the request under way with this packet number; negative if there is none. */
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

    /** The oldest request is over. */
    SendSlot end() {
        SendSlot slot = slot(done);
        if (done < next && slot.opcode.isReadOrAtomic()) {
            reads--;
        }
        done++;
        next = Math.max(next, done);
        return slot;
    }

    /** All requests that are over give their places back. */
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
