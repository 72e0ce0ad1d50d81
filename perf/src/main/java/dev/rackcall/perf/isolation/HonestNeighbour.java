package dev.rackcall.perf.isolation;

import dev.rackcall.perf.harness.ClientSide;
import java.nio.file.Path;

/** A client that calls as fast as it can and does nothing else: the baseline for a hostile one. */
final class HonestNeighbour extends NeighbourProcess {
    private final ClientSide client;
    private long sequence;

    private HonestNeighbour(ClientSide client) {
        this.client = client;
    }

    /** Arguments: the directory of the subject. */
    public static void main(String[] arguments) throws Exception {
        try (ClientSide client = NeighbourCall.CALL.sides().connect(Path.of(arguments[0]))) {
            new HonestNeighbour(client).run();
        }
    }

    @Override
    void once() throws Exception {
        for (int i = 0; i < 1000; i++) {
            client.call(++sequence);
        }
    }
}
