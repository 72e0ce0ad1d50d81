package dev.rackcall.grpc;

import java.net.URI;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtendWith;

/** The same contract over virtual queues. */
@ExtendWith(TwoAgents.class)
class QueueTransportContractTest extends TransportContractTest {
    @Override
    Optional<URI> remote(int port) {
        return Optional.of(TwoAgents.address(port));
    }
}
