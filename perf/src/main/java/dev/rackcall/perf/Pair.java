package dev.rackcall.perf;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** The two processes of one subject, connected and ready; for an in-process subject there is only the client's. */
final class Pair implements AutoCloseable {
    private final Optional<ChildJvm> server;
    private final ChildJvm client;

    private Pair(Optional<ChildJvm> server, ChildJvm client) {
        this.server = server;
        this.client = client;
    }

    static Pair start(Subject subject, Path directory, Cores chosen) throws IOException {
        Cores cores = subject.spins() ? chosen : Cores.UNPINNED;
        Optional<ChildJvm> server = subject.crossProcess()
                ? Optional.of(ChildJvm.start(ChildRole.SERVER, subject, directory, cores.server()))
                : Optional.empty();
        try {
            return new Pair(server, ChildJvm.start(ChildRole.CLIENT, subject, directory, cores.client()));
        } catch (IOException | RuntimeException e) {
            server.ifPresent(ChildJvm::close);
            throw e;
        }
    }

    ChildJvm client() {
        return client;
    }

    /** The process that serves; empty if that is the client's. */
    Optional<ChildJvm> server() {
        return server;
    }

    @Override
    public void close() {
        try {
            client.close();
        } finally {
            server.ifPresent(ChildJvm::close);
        }
    }
}
