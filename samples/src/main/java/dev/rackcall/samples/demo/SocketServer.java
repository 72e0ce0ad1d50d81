package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.Batch;
import dev.rackcall.samples.documents.Document;
import dev.rackcall.samples.documents.DocumentWriter;
import dev.rackcall.samples.documents.Found;
import dev.rackcall.samples.documents.JsonText;
import dev.rackcall.samples.documents.Store;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;

/** The same store behind a Unix domain socket, with a thread for each client. Only this process maps its arena. */
final class SocketServer implements StoreServer {
    private static final int ARENA = 1;
    private static final int PARTICIPANT = 1;
    private static final long FIRST_BYTES = 1 << 20;

    private final Store store = new Store();
    private final SharedFile file;
    private final Mapping mapping;
    private final Arena arena;
    private final Path socket;
    private final ServerSocketChannel listener;
    private final Set<SocketChannel> clients = ConcurrentHashMap.newKeySet();

    SocketServer(Path directory) throws IOException {
        file = SharedFile.memfd("rackcall-demo", StoreServer.quota());
        mapping = file.map();
        arena = Arena.create(
                new ArenaSpec(ARENA, mapping.memory(), file, 0, TableHome.PRIVATE, PARTICIPANT, FIRST_BYTES));
        socket = SocketMessage.address(directory).getPath();
        listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        listener.bind(SocketMessage.address(directory));
        Thread.ofPlatform().daemon().name("accept").start(this::accept);
    }

    private void accept() {
        try {
            while (true) {
                SocketChannel client = listener.accept();
                clients.add(client);
                Thread.ofPlatform().daemon().name("client").start(() -> new Session(client).serve());
            }
        } catch (ClosedChannelException e) {
            // The server was closed.
        } catch (IOException e) {
            throw new IllegalStateException("no more clients can be accepted", e);
        }
    }

    @Override
    public Store store() {
        return store;
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (SocketChannel client : clients) {
            client.close();
        }
        Files.deleteIfExists(socket);
        store.close();
        mapping.close();
        file.close();
    }

    /** Serves one client on one thread: parses documents into scopes, writes found documents as JSON. */
    private final class Session {
        private final SocketChannel client;
        private final DocumentWriter writer = new DocumentWriter();
        private final JsonText text = new JsonText();
        private final ScopeEstimate estimate = new ScopeEstimate();
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        Session(SocketChannel client) {
            this.client = client;
        }

        void serve() {
            try (client) {
                for (ByteBuffer request = SocketMessage.receive(client);
                        request != null;
                        request = SocketMessage.receive(client)) {
                    answer(request).send(client);
                }
            } catch (IOException e) {
                // The client is gone; its documents stay.
            } finally {
                clients.remove(client);
            }
        }

        private SocketMessage answer(ByteBuffer request) throws IOException {
            try {
                byte kind = request.get();
                return switch (kind) {
                    case SocketMessage.PUT -> put(request);
                    case SocketMessage.WITH_TEXT ->
                        found(store.withText(
                                SocketMessage.readPath(request), SocketMessage.readText(request), DemoPlan.LIMIT));
                    case SocketMessage.WITH_NUMBER ->
                        found(store.withNumber(
                                SocketMessage.readPath(request),
                                request.getDouble(),
                                request.getDouble(),
                                DemoPlan.LIMIT));
                    default -> throw new IllegalArgumentException("no request has the number " + kind);
                };
            } catch (RuntimeException e) { // the client reports every failure
                SocketMessage failed = SocketMessage.of(SocketMessage.FAILED);
                failed.writeText(e.toString());
                return failed;
            }
        }

        private SocketMessage put(ByteBuffer request) throws IOException {
            int count = request.getInt();
            Scope scope = arena.newScope(estimate.bytes(count));
            Batch batch;
            try {
                batch = read(request, scope, count);
            } catch (RuntimeException e) {
                scope.close();
                throw e;
            }
            scope.detach(); // another thread may clear the store
            SocketMessage answer = SocketMessage.of(SocketMessage.DONE);
            answer.writeInt(store.add(scope, batch));
            return answer;
        }

        private Batch read(ByteBuffer request, Scope scope, int count) {
            writer.begin(scope);
            List<Document> documents = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                long number = request.getLong();
                try (JsonParser parser = JsonText.TRUSTING.createParser(SocketMessage.readBytes(request))) {
                    documents.add(writer.read(number, parser));
                }
            }
            Batch batch = writer.batch(documents);
            estimate.learn(count, writer.bytes());
            return batch;
        }

        private SocketMessage found(Found found) throws IOException {
            SocketMessage answer = SocketMessage.of(SocketMessage.DONE);
            answer.writeLong(found.total());
            answer.writeInt(found.documents().size());
            for (Document document : found.documents()) {
                bytes.reset();
                try (JsonGenerator json = JsonText.MAPPER.createGenerator(bytes)) {
                    text.write(document, json);
                }
                answer.writeDocument(document.number(), bytes.toByteArray());
            }
            return answer;
        }
    }
}
