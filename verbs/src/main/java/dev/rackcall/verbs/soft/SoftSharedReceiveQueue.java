package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.SharedReceiveQueue;

/** A receive ring with an owner. */
final class SoftSharedReceiveQueue implements SharedReceiveQueue {
    private final SoftProtectionDomain domain;
    private final Children users = new Children("a shared receive queue");
    private final ReceiveRing ring;

    SoftSharedReceiveQueue(SoftProtectionDomain domain, int requests, int segments) {
        this.domain = domain;
        ring = new ReceiveRing(requests, segments);
        domain.children().add();
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
            domain.children().remove();
        }
    }
}
