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
        super.set(request);
    }

    void set(ReceiveSlot other) {
        id = other.id;
        super.set(other);
    }

    long id() {
        return id;
    }
}
