package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.Batch;
import dev.rackcall.samples.documents.Document;
import dev.rackcall.samples.documents.DocumentWriter;
import dev.rackcall.samples.documents.Found;
import dev.rackcall.samples.documents.JsonText;
import dev.rackcall.samples.documents.Store;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Scope;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;

/** One client's requests, answered on one thread: parses documents into scopes, writes those that are found as JSON. */
final class SocketSession {
    private final Store store;
    private final Arena arena;
    private final Frame frame = new Frame();
    private final DocumentWriter writer = new DocumentWriter();
    private final JsonText text = new JsonText();
    private final ScopeEstimate estimate = new ScopeEstimate();

    SocketSession(Store store, Arena arena) {
        this.store = store;
        this.arena = arena;
    }

    /** Answers until the client closes. */
    void serve(SocketChannel client) throws IOException {
        while (frame.receive(client) >= 0) {
            try {
                answer();
            } catch (RuntimeException e) { // the client has to hear of it, whatever it was
                frame.begin();
                frame.write(SocketProtocol.FAILED);
                frame.writeText(e.toString());
            }
            frame.send(client);
        }
    }

    private void answer() {
        byte request = frame.readByte();
        switch (request) {
            case SocketProtocol.PUT -> put();
            case SocketProtocol.WITH_TEXT -> found(store.withText(frame.readPath(), frame.readText(), DemoPlan.LIMIT));
            case SocketProtocol.WITH_NUMBER ->
                found(store.withNumber(frame.readPath(), frame.readDouble(), frame.readDouble(), DemoPlan.LIMIT));
            default -> throw new IllegalArgumentException("no request has the number " + request);
        }
    }

    private void put() {
        int count = frame.readInt();
        Scope scope = arena.newScope(estimate.bytes(count));
        Batch batch;
        try {
            batch = read(scope, count);
        } catch (RuntimeException e) {
            scope.close();
            throw e;
        }
        scope.detach(); // another thread may clear the store
        int size = store.add(scope, batch);
        frame.begin();
        frame.write(SocketProtocol.DONE);
        frame.writeInt(size);
    }

    private Batch read(Scope scope, int count) {
        writer.begin(scope);
        List<Document> documents = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long number = frame.readLong();
            int length = frame.readInt();
            try (JsonParser parser = JsonText.TRUSTING.createParser(frame.array(), frame.position(), length)) {
                documents.add(writer.read(number, parser));
            }
            frame.skip(length);
        }
        Batch batch = writer.batch(documents);
        estimate.learn(count, writer.bytes());
        return batch;
    }

    private void found(Found found) {
        frame.begin();
        frame.write(SocketProtocol.DONE);
        frame.writeLong(found.total());
        frame.writeInt(found.documents().size());
        for (Document document : found.documents()) {
            frame.writeLong(document.number());
            frame.writeInt(0);
            int start = frame.position();
            try (JsonGenerator json = JsonText.MAPPER.createGenerator(frame)) {
                text.write(document, json);
            }
            frame.setInt(start - Integer.BYTES, frame.position() - start);
        }
    }
}
