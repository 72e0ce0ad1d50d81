package dev.rackcall.rdma;

import org.junit.jupiter.api.extension.RegisterExtension;

/** Shared objects by pointer, over RDMA. */
class RdmaSharedCallTest extends RemoteSharedCall {
    @RegisterExtension
    static final Place PLACE = Place.rdma();

    RdmaSharedCallTest() {
        super(PLACE);
    }
}
