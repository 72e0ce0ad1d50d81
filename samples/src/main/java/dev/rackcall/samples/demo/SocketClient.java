package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.Digest;
import dev.rackcall.samples.documents.JsonDocument;
import dev.rackcall.samples.documents.JsonText;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Sends documents as JSON through a Unix domain socket; parses the documents that it finds. */
final class SocketClient implements StoreClient {
    private final SocketChannel channel;
    private Traffic traffic = Traffic.NONE;

    SocketClient(Path directory) throws IOException {
        channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel.connect(SocketMessage.address(directory));
    }

    @Override
    public void put(List<JsonDocument> documents) throws IOException {
        SocketMessage request = SocketMessage.of(SocketMessage.PUT);
        request.writeInt(documents.size());
        for (JsonDocument document : documents) {
            request.writeDocument(document.number(), JsonText.MAPPER.writeValueAsBytes(document.content()));
        }
        call(request);
    }

    @Override
    public Outcome search(Query query) throws IOException {
        SocketMessage request =
                SocketMessage.of(query instanceof Query.Text ? SocketMessage.WITH_TEXT : SocketMessage.WITH_NUMBER);
        request.writePath(query.path());
        switch (query) {
            case Query.Text text -> request.writeText(text.text());
            case Query.Range range -> {
                request.writeDouble(range.low());
                request.writeDouble(range.high());
            }
        }
        ByteBuffer answer = call(request);
        long total = answer.getLong();
        int read = answer.getInt();
        long digests = 0;
        for (int i = 0; i < read; i++) {
            long number = answer.getLong();
            JsonNode content = JsonText.TRUSTING.readTree(SocketMessage.readBytes(answer));
            digests = 31 * digests + Digest.of(new JsonDocument(number, content));
        }
        return new Outcome(total, read, digests);
    }

    /** Sends a request; returns the content of its answer. */
    private ByteBuffer call(SocketMessage request) throws IOException {
        int sent = request.send(channel);
        ByteBuffer answer = SocketMessage.receive(channel);
        if (answer == null) {
            throw new EOFException("the server closed the connection");
        }
        traffic = traffic.plus(new Traffic((long) sent + Integer.BYTES + answer.limit(), 0));
        if (answer.get() != SocketMessage.DONE) {
            throw new IOException("the server answered: " + SocketMessage.readText(answer));
        }
        return answer;
    }

    @Override
    public Traffic traffic() {
        Traffic now = traffic;
        traffic = Traffic.NONE;
        return now;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
