package dev.rackcall.rdma;

import org.junit.jupiter.api.extension.RegisterExtension;

/** Shared objects by pointer, over virtual queues. */
class QueueSharedCallTest extends RemoteSharedCall {
    @RegisterExtension
    static final Place PLACE = Place.queues();

    QueueSharedCallTest() {
        super(PLACE);
    }
}
