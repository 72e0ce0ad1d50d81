package dev.rackcall.samples.demo;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.samples.documents.Batch;
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
final class PointerClient implements StoreClient {
    private final RpcChannel channel;
    private final DocumentStore store;
    private final DocumentWriter writer = new DocumentWriter();
    private final ScopeEstimate estimate = new ScopeEstimate();
    private final Digest digest = new Digest();
    private Traffic traffic = Traffic.NONE;

    PointerClient(Path directory, DemoPlan plan) {
        channel = RpcChannel.builder(DocumentStore.CHANNEL)
                .directory(PointerServer.runtimeDirectory(directory))
                .waiting(plan.waiting())
                .open();
        store = channel.stub(DocumentStore.class);
    }

    @Override
    public void put(List<JsonDocument> documents) {
        try (Scope scope = channel.newSharedScope(estimate.bytes(documents.size()))) {
            writer.begin(scope);
            Batch batch = writer.write(documents);
            estimate.learn(documents.size(), writer.bytes());
            store.put(batch);
        }
        traffic = traffic.plus(new Traffic(Long.BYTES + Integer.BYTES, writer.bytes()));
    }

    @Override
    public Outcome search(Query query) {
        Found found = switch (query) {
            case Query.Text text -> store.withText(text.path(), text.text(), DemoPlan.LIMIT);
            case Query.Range range -> store.withNumber(range.path(), range.low(), range.high(), DemoPlan.LIMIT);
        };
        long digests = 0;
        for (Document document : found.documents()) {
            digests = 31 * digests + digest.of(document);
        }
        int read = found.documents().size();
        traffic = traffic.plus(new Traffic(encodedBytes(query) + encodedBytes(found), 0));
        return new Outcome(found.total(), read, digests);
    }

    /** The bytes that the generated stub writes: counts and lengths have 4 bytes. */
    private static long encodedBytes(Query query) {
        long bytes = Integer.BYTES + Integer.BYTES;
        for (String name : query.path()) {
            bytes += encodedBytes(name);
        }
        return bytes
                + switch (query) {
                    case Query.Text text -> encodedBytes(text.text());
                    case Query.Range _ -> 2 * Double.BYTES;
                };
    }

    private static long encodedBytes(Found found) {
        return Long.BYTES
                + Integer.BYTES
                + (long) Long.BYTES * found.documents().size();
    }

    private static long encodedBytes(String text) {
        return (long) Integer.BYTES + text.getBytes(StandardCharsets.UTF_8).length;
    }

    @Override
    public Traffic traffic() {
        Traffic now = traffic;
        traffic = Traffic.NONE;
        return now;
    }

    @Override
    public void close() {
        channel.close();
    }
}
