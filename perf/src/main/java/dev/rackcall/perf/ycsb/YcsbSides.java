package dev.rackcall.perf.ycsb;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import java.io.IOException;
import java.nio.file.Path;

/** The store and one process with client threads. */
record YcsbSides(YcsbPeer peer) implements Sides {
    @Override
    public ServerSide serve(Path directory) throws IOException {
        return peer.serve(directory);
    }

    @Override
    public ClientSide connect(Path directory) throws IOException {
        return new YcsbClient(peer.connect(directory));
    }
}
