package dev.rackcall.samples.documents;

import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.Status;
import java.util.List;

/** The service over a {@link Store}. Thread-safe. */
public final class DocumentStoreService implements DocumentStore {
    private final Store store;

    private DocumentStoreService(Store store) {
        this.store = store;
    }

    /** The store stays its owner's. */
    public static DocumentStoreService of(Store store) {
        return new DocumentStoreService(store);
    }

    @Override
    public int put(Batch batch) {
        return store.add(RpcContext.current().orElseThrow().adopt(batch), batch);
    }

    @Override
    public Found withText(List<String> path, String text, int limit) {
        check(limit);
        return store.withText(path, text, limit);
    }

    @Override
    public Found withNumber(List<String> path, double low, double high, int limit) {
        check(limit);
        return store.withNumber(path, low, high, limit);
    }

    private static void check(int limit) {
        if (limit < 0 || limit > Store.MAX_LIMIT) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("a search returns up to %d documents, not %d", Store.MAX_LIMIT, limit)
                    .asException();
        }
    }
}
