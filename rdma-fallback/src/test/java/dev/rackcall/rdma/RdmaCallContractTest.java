package dev.rackcall.rdma;

import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract of calls over RDMA. */
class RdmaCallContractTest extends RemoteCallContract {
    @RegisterExtension
    static final Place PLACE = Place.rdma();

    RdmaCallContractTest() {
        super(PLACE);
    }
}
