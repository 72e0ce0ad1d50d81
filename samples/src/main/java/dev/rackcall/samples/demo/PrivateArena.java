package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.Document;
import dev.rackcall.samples.documents.DocumentWriter;
import dev.rackcall.samples.documents.Store;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.util.function.Function;

/** The memory of a store whose clients share none with it: only this process maps it. Thread-safe but for {@link #close}. */
final class PrivateArena implements AutoCloseable {
    private static final int ARENA = 1;
    private static final int PARTICIPANT = 1;
    private static final long FIRST_BYTES = 1 << 20;

    private final SharedFile file;
    private final Mapping mapping;
    private final Arena arena;

    PrivateArena(long quota) {
        file = SharedFile.memfd("rackcall-demo", quota);
        mapping = file.map();
        arena = Arena.create(
                new ArenaSpec(ARENA, mapping.memory(), file, 0, TableHome.PRIVATE, PARTICIPANT, FIRST_BYTES));
    }

    /** Adds a batch of that many documents, which the writer builds in a scope; returns the store's size. */
    int add(Store store, DocumentWriter writer, int count, Function<Scope, Document.Batch> built) {
        Scope scope = arena.newScope(writer.estimate(count));
        Document.Batch batch;
        try {
            batch = built.apply(scope);
        } catch (RuntimeException e) {
            scope.close();
            throw e;
        }
        scope.detach(); // another thread may clear the store
        return store.add(scope, batch);
    }

    @Override
    public void close() {
        mapping.close();
        file.close();
    }
}
