package dev.rackcall.verbs.soft.responder;

import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.soft.memory.ScatterList;

/** A posted receive request. */
final class ReceiveSlot extends ScatterList {
    private long id;

    ReceiveSlot(int maxSegments) {
        super(maxSegments);
    }

    void set(ReceiveRequest request) {
        id = request.id();
        clear();
        for (int i = 0; i < request.segments(); i++) {
            add(request.segmentAddress(i), request.segmentLength(i), request.segmentKey(i));
        }
    }

    void set(ReceiveSlot other) {
        id = other.id;
        super.set(other);
    }

    long id() {
        return id;
    }
}
