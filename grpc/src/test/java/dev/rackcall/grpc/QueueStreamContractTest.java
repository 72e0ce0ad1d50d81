package dev.rackcall.grpc;

import java.net.URI;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The same contract over virtual queues. */
class QueueStreamContractTest extends StreamContractTest {
    private static TwoAgents agents;

    @BeforeAll
    static void open() {
        agents = new TwoAgents();
    }

    @AfterAll
    static void close() {
        agents.close();
    }

    @Override
    Optional<URI> remote(int port) {
        return Optional.of(TwoAgents.address(port));
    }
}
