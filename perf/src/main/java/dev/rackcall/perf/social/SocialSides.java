package dev.rackcall.perf.social;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A process of the network.
 *
 * @param transport what it calls and is called through
 * @param roles its service; empty for the process of the load
 */
record SocialSides(SocialTransport transport, List<SocialRole> roles) implements Sides {
    @Override
    public ServerSide serve(Path directory) throws IOException {
        return roles.isEmpty()
                ? new LoadGenerator(transport.connect(directory))
                : transport.serve(directory, roles.getFirst());
    }

    @Override
    public ClientSide connect(Path directory) {
        throw new UnsupportedOperationException("the process of the load is a server side, too");
    }
}
