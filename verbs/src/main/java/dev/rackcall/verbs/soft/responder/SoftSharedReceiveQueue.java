package dev.rackcall.verbs.soft.responder;

import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.SharedReceiveQueue;
import dev.rackcall.verbs.soft.queue.Children;

/** A receive ring that several queue pairs take from. */
public final class SoftSharedReceiveQueue implements SharedReceiveQueue {
    private final Children parent;
    private final Children users = new Children("a shared receive queue");
    private final ReceiveRing ring;

    public SoftSharedReceiveQueue(Children parent, int requests, int segments) {
        this.parent = parent;
        ring = new ReceiveRing(requests, segments);
        parent.add();
    }

    Children users() {
        return users;
    }

    ReceiveRing ring() {
        return ring;
    }

    @Override
    public boolean post(ReceiveRequest request) {
        return ring.post(request);
    }

    @Override
    public void close() {
        if (users.close()) {
            parent.remove();
        }
    }
}
