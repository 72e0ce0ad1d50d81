package dev.rackcall.samples.demo;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.samples.demo.QueryPlan.Query;
import dev.rackcall.samples.documents.Digest;
import dev.rackcall.samples.documents.Document;
import dev.rackcall.samples.documents.DocumentStore;
import dev.rackcall.samples.documents.DocumentWriter;
import dev.rackcall.samples.documents.Found;
import dev.rackcall.samples.documents.JsonDocument;
import dev.rackcall.shm.Scope;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Builds documents in the channel's shared arena, hands them over by Ref, and reads found documents in place. */
final class PointerClient extends StoreClient {
    private final RpcChannel channel;
    private final DocumentStore store;
    private final DocumentWriter writer = new DocumentWriter();
    private final Digest digest = new Digest();

    PointerClient(Path directory, DemoPlan plan) {
        channel = RpcChannel.builder(DocumentStore.CHANNEL)
                .runtimeFolder(directory)
                .waiting(plan.waiting())
                .open();
        store = channel.stub(DocumentStore.class);
    }

    @Override
    void put(List<JsonDocument> documents) {
        try (Scope scope = channel.newSharedScope(writer.estimate(documents.size()))) {
            store.put(writer.write(scope, documents));
        }
        count(Long.BYTES + Integer.BYTES, writer.bytes());
    }

    @Override
    long get(long number) {
        long read = digest.of(store.get(number));
        count(2 * Long.BYTES, 0);
        return read;
    }

    @Override
    Outcome search(Query query) {
        Found found = query.find(store, DemoPlan.LIMIT);
        long digests = 0;
        for (Document document : found.documents()) {
            digests = 31 * digests + digest.of(document);
        }
        int read = found.documents().size();
        count(encodedBytes(query) + Long.BYTES + Integer.BYTES + (long) Long.BYTES * read, 0);
        return new Outcome(found.total(), read, digests);
    }

    /** The bytes that the generated stub writes: counts and lengths have 4 bytes. */
    private static long encodedBytes(Query query) {
        long path = query.path().stream().mapToLong(PointerClient::encodedBytes).sum();
        long value = query.text().map(PointerClient::encodedBytes).orElse(2L * Double.BYTES);
        return Integer.BYTES + path + value + Integer.BYTES;
    }

    private static long encodedBytes(String text) {
        return (long) Integer.BYTES + text.getBytes(StandardCharsets.UTF_8).length;
    }

    @Override
    public void close() {
        channel.close();
    }
}
