package dev.rackcall.samples.documents;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.util.List;

/** An arena of this process alone. */
final class TestArena implements AutoCloseable {
    private static final long QUOTA = 64 << 20;

    private final SharedFile file = SharedFile.memfd("rackcall-samples-test", QUOTA);
    private final Mapping mapping = file.map();
    final Arena arena = Arena.create(new ArenaSpec(1, mapping.memory(), file, 0, TableHome.PRIVATE, 1, 64 << 10));

    /** Adds documents to a store, in a scope that the store then owns. */
    void add(Store store, List<JsonDocument> documents) {
        Scope scope = arena.newScope();
        Document.Batch batch = new DocumentWriter().write(scope, documents);
        scope.detach();
        store.add(scope, batch);
    }

    @Override
    public void close() {
        mapping.close();
        file.close();
    }
}
