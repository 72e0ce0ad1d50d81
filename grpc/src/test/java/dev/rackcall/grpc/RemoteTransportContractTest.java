package dev.rackcall.grpc;

import java.net.URI;
import java.util.Optional;

/** The same contract over the software device. */
class RemoteTransportContractTest extends TransportContractTest {
    @Override
    Optional<URI> remote(int port) {
        return Optional.of(URI.create("rdma://127.0.0.1:" + port));
    }
}
