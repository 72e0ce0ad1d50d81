package dev.rackcall.samples.documents;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.List;

/**
 * Keeps documents and finds them by their values. A path is the list of names from the root to a value. All elements of
 * an array have the array's path, so {@code [tags]} finds any of the tags in {@code {"tags": ["a", "b"]}}.
 */
@RpcService(DocumentStore.CHANNEL)
public interface DocumentStore {
    /** The channel at which the demo serves the store. */
    String CHANNEL = "/samples/documents";

    /**
     * Takes over documents by pointer: the store then owns their scope.
     *
     * @param batch built in {@code RpcChannel.newSharedScope}
     * @return how many documents the store now has
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if a document is damaged or too deep; the batch is then
     *     freed
     */
    @Rpc
    int put(Document.Batch batch);

    /**
     * The document with this number, the last one if several have it.
     *
     * @throws dev.rackcall.rpc.RpcException NOT_FOUND if there is none
     */
    @Rpc(idempotent = true)
    Document get(long number);

    /** The documents that have this text at this path. */
    @Rpc(idempotent = true)
    Found withText(List<String> path, String text, int limit);

    /**
     * The documents that have a number from {@code low} to {@code high}, both included, at that path. Numbers compare
     * as doubles.
     */
    @Rpc(idempotent = true)
    Found withNumber(List<String> path, double low, double high, int limit);
}
