package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.QueryPlan.Query;
import dev.rackcall.samples.documents.Digest;
import dev.rackcall.samples.documents.JsonDocument;
import dev.rackcall.samples.documents.JsonText;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.JsonNode;

/** Sends documents as JSON through a Unix domain socket; parses the documents that it finds. */
final class SocketClient extends StoreClient {
    private final SocketChannel channel;

    SocketClient(Path directory) throws IOException {
        channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel.connect(SocketMessage.address(directory));
    }

    @Override
    void put(List<JsonDocument> documents) throws IOException {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        try (JsonGenerator json = JsonText.MAPPER.createGenerator(request)) {
            json.writeStartArray();
            json.writeNumber(documents.size());
            for (JsonDocument document : documents) {
                json.writeNumber(document.number());
                json.writeTree(document.content());
            }
            json.writeEndArray();
        }
        call(request.toByteArray());
    }

    @Override
    long get(long number) throws IOException {
        JsonNode answer = call(JsonText.MAPPER.writeValueAsBytes(number));
        return Digest.of(new JsonDocument(answer.get(0).longValue(), answer.get(1)));
    }

    @Override
    Outcome search(Query query) throws IOException {
        JsonNode answer = call(JsonText.MAPPER.writeValueAsBytes(query));
        int read = answer.size() / 2;
        long digests = 0;
        for (int i = 1; i < answer.size(); i += 2) {
            JsonDocument document = new JsonDocument(answer.get(i).longValue(), answer.get(i + 1));
            digests = 31 * digests + Digest.of(document);
        }
        return new Outcome(answer.get(0).longValue(), read, digests);
    }

    private JsonNode call(byte[] request) throws IOException {
        int sent = SocketMessage.send(channel, request);
        byte[] answer = SocketMessage.receive(channel);
        count((long) sent + Integer.BYTES + answer.length, 0);
        JsonNode content = JsonText.TRUSTING.readTree(answer);
        if (content.isString()) {
            throw new IOException("the server answered: " + content.stringValue());
        }
        return content;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
