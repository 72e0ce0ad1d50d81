package dev.rackcall.rdma;

import java.net.URI;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Calls over RDMA while the network is cut, completions are lost, queue pairs fail and TCP connections end. */
class RdmaFaultTest extends FaultContract {
    private static final int FAULTS = Integer.getInteger("rackcall.kills", 60);
    private static final String CLIENT = "127.0.0.1";
    private static final String SERVER = "127.0.0.2";

    private long mappedBefore;
    private Faults client;
    private Faults server;
    private boolean closed;

    @BeforeEach
    void open() {
        mappedBefore = Faults.mappings();
        client = Faults.at(CLIENT, seed);
        server = Faults.at(SERVER, seed);
    }

    @Override
    URI anyPort() {
        return URI.create("rdma://" + SERVER + ":0");
    }

    @Override
    int faults() {
        return FAULTS;
    }

    @Override
    void inject() {
        Faults side = random.nextBoolean() ? client : server;
        switch (random.nextInt(5)) {
            case 0 -> side.cut();
            case 1 -> side.loseCompletions(1 + random.nextInt(20));
            case 2 -> side.failQueuePairs();
            case 3 -> side.endSockets();
            default -> {
                side.loseCompletions(1 + random.nextInt(20));
                side.failQueuePairs();
            }
        }
    }

    @Override
    int connections() {
        return client.connections() + server.connections();
    }

    @Override
    void checkThatNothingIsLeft() {
        close();
        // A connection releases its device after its end; a device with a registered region cannot be closed.
        until("no device is open", () -> Faults.openDevices() == 0);
        // Fewer if memory of an earlier test was still being unmapped at the start.
        until("all memory is unmapped", () -> Faults.mappings() <= mappedBefore);
    }

    @AfterEach
    void close() {
        if (!closed) {
            closed = true;
            client.close();
            server.close();
        }
    }
}
