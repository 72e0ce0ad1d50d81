package dev.rackcall.grpc;

import io.grpc.SecurityLevel;
import java.net.URI;
import java.util.List;

/** The same contract over the software device. */
class RemoteTransportContractTest extends TransportContractTest {
    @Override
    List<URI> listens() {
        return List.of(URI.create("rdma://127.0.0.1:0"));
    }

    @Override
    RackcallSocketAddress address(RackcallServer server) {
        return RemoteChannelTest.remote(server.getListenSocketAddresses());
    }

    @Override
    RackcallSocketAddress nobody() {
        return RackcallSocketAddress.of("/test/nobody", URI.create("rdma://127.0.0.1:1"));
    }

    @Override
    SecurityLevel security() {
        return SecurityLevel.NONE;
    }
}
