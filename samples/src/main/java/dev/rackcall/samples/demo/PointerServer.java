package dev.rackcall.samples.demo;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.samples.documents.DocumentStore;
import dev.rackcall.samples.documents.DocumentStoreService;
import dev.rackcall.samples.documents.Store;
import java.nio.file.Path;
import java.time.Duration;

/** The store as a Rackcall service. */
final class PointerServer implements StoreServer {
    /** On a machine that does more than it can, a handler may lie still for a while. */
    private static final Duration STUCK_AFTER = Duration.ofSeconds(10);

    private final Store store = new Store();
    private final RpcServer server;

    PointerServer(Path directory, DemoPlan plan) {
        server = RpcServer.builder()
                .directory(runtimeDirectory(directory))
                .service(DocumentStore.class, DocumentStoreService.of(store))
                .sharedQuota(StoreServer.quota())
                .waiting(plan.waiting())
                .stuckAfter(STUCK_AFTER)
                .start();
    }

    /** Servers remove their runtime directory when they are the last in it, so it is not the one that is given. */
    static Path runtimeDirectory(Path directory) {
        return directory.resolve("rackcall");
    }

    @Override
    public Store store() {
        return store;
    }

    @Override
    public void close() {
        store.close();
        server.close();
    }
}
