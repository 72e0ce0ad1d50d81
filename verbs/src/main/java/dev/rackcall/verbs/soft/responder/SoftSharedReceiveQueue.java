package dev.rackcall.verbs.soft.responder;

import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.SharedReceiveQueue;
import dev.rackcall.verbs.soft.queue.Children;

/** A receive ring that several queue pairs take from. */
public final class SoftSharedReceiveQueue implements SharedReceiveQueue {
    private final Children users;
    private final ReceiveRing ring;

    public SoftSharedReceiveQueue(Children parent, int requests, int segments) {
        users = new Children("a shared receive queue", parent);
        ring = new ReceiveRing(requests, segments);
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
        users.close();
    }
}
