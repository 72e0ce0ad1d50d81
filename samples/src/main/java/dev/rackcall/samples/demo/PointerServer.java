package dev.rackcall.samples.demo;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.samples.documents.DocumentStore;
import dev.rackcall.samples.documents.DocumentStoreService;
import dev.rackcall.samples.documents.Store;
import java.nio.file.Path;
import java.time.Duration;

/** The store as a Rackcall service. */
final class PointerServer implements StoreServer {
    /** On an overloaded machine a handler may stall for a while. */
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

    /** A folder of its own, because the last server in a runtime directory removes it. */
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
