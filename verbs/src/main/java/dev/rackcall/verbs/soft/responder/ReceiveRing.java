package dev.rackcall.verbs.soft.responder;

import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;

/** Posted receive requests, first in, first out; of one queue pair or shared. */
final class ReceiveRing {
    private final ReceiveSlot[] slots;
    private final int capacity;
    private final int maxSegments;
    private long posted;
    private long taken;

    ReceiveRing(int capacity, int maxSegments) {
        this.capacity = capacity;
        this.maxSegments = maxSegments;
        slots = new ReceiveSlot[capacity];
        for (int i = 0; i < capacity; i++) {
            slots[i] = new ReceiveSlot(maxSegments);
        }
    }

    ReceiveSlot newSlot() {
        return new ReceiveSlot(maxSegments);
    }

    synchronized boolean post(ReceiveRequest request) {
        if (request.segments() > maxSegments) {
            throw new VerbsException(
                    "posting a receive request of " + request.segments() + " segments to a queue for " + maxSegments,
                    VerbsErrno.EINVAL,
                    "create the queue for more segments");
        }
        if (posted - taken == capacity) {
            return false;
        }
        slots[(int) (posted % capacity)].set(request);
        posted++;
        return true;
    }

    /** Moves the oldest request into this slot. */
    synchronized boolean take(ReceiveSlot into) {
        if (posted == taken) {
            return false;
        }
        into.set(slots[(int) (taken % capacity)]);
        taken++;
        return true;
    }

    synchronized void clear() {
        taken = posted;
    }
}
