package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.QueryPlan.Query;
import dev.rackcall.samples.documents.Document;
import dev.rackcall.samples.documents.DocumentWriter;
import dev.rackcall.samples.documents.Found;
import dev.rackcall.samples.documents.JsonText;
import dev.rackcall.samples.documents.Store;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;

/** The store behind a Unix domain socket, with a thread for each client. */
final class SocketServer implements AutoCloseable {
    private final Store store;
    private final PrivateArena arena;
    private final UnixDomainSocketAddress address;
    private final ServerSocketChannel listener;
    private final Set<SocketChannel> clients = ConcurrentHashMap.newKeySet();

    SocketServer(Store store, Path directory, long quota) throws IOException {
        this.store = store;
        arena = new PrivateArena(quota);
        address = SocketMessage.address(directory);
        listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        listener.bind(address);
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
    public void close() throws IOException {
        listener.close();
        for (SocketChannel client : clients) {
            client.close();
        }
        Files.deleteIfExists(address.getPath());
        store.close();
        arena.close();
    }

    /** Serves one client on one thread: parses documents into scopes, writes found documents as JSON. */
    private final class Session {
        private final SocketChannel client;
        private final DocumentWriter writer = new DocumentWriter();
        private final JsonText text = new JsonText();

        Session(SocketChannel client) {
            this.client = client;
        }

        void serve() {
            try (client) {
                while (true) {
                    SocketMessage.send(client, answer(SocketMessage.receive(client)));
                }
            } catch (IOException e) {
                // The client is gone; its documents stay.
            } finally {
                clients.remove(client);
            }
        }

        private byte[] answer(byte[] request) {
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            try (JsonParser parser = JsonText.TRUSTING.createParser(request);
                    JsonGenerator json = JsonText.TRUSTING.createGenerator(answer)) {
                switch (parser.nextToken()) {
                    case START_ARRAY -> json.writeNumber(put(parser));
                    case VALUE_NUMBER_INT -> {
                        json.writeStartArray();
                        write(store.get(parser.getLongValue()), json);
                        json.writeEndArray();
                    }
                    default -> {
                        Query query = parser.readValueAs(Query.class);
                        write(query.find(store, DemoPlan.LIMIT), json);
                    }
                }
            } catch (RuntimeException e) { // the client reports every failure
                return JsonText.MAPPER.writeValueAsBytes(e.toString());
            }
            return answer.toByteArray();
        }

        private int put(JsonParser parser) {
            int count = parser.nextIntValue(0);
            return arena.add(store, writer, count, scope -> writer.read(scope, parser, count));
        }

        private void write(Found found, JsonGenerator json) {
            json.writeStartArray();
            json.writeNumber(found.total());
            for (Document document : found.documents()) {
                write(document, json);
            }
            json.writeEndArray();
        }

        private void write(Document document, JsonGenerator json) {
            json.writeNumber(document.number());
            text.write(document, json);
        }
    }
}
