package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.Digest;
import dev.rackcall.samples.documents.JsonDocument;
import dev.rackcall.samples.documents.JsonText;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.JsonNode;

/** Sends documents as JSON through a Unix domain socket; parses those that it finds. */
final class SocketClient implements StoreClient {
    private final SocketChannel channel;
    private final Frame frame = new Frame();
    private Traffic traffic = Traffic.NONE;

    SocketClient(Path directory) throws IOException {
        channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel.connect(SocketProtocol.address(directory));
    }

    @Override
    public void put(List<JsonDocument> documents) throws IOException {
        frame.begin();
        frame.write(SocketProtocol.PUT);
        frame.writeInt(documents.size());
        for (JsonDocument document : documents) {
            frame.writeLong(document.number());
            frame.writeInt(0);
            int start = frame.position();
            try (JsonGenerator json = JsonText.MAPPER.createGenerator(frame)) {
                JsonText.MAPPER.writeTree(json, document.content());
            }
            frame.setInt(start - Integer.BYTES, frame.position() - start);
        }
        call();
    }

    @Override
    public Outcome search(Query query) throws IOException {
        frame.begin();
        switch (query) {
            case Query.Text text -> {
                frame.write(SocketProtocol.WITH_TEXT);
                frame.writePath(text.path());
                frame.writeText(text.text());
            }
            case Query.Range range -> {
                frame.write(SocketProtocol.WITH_NUMBER);
                frame.writePath(range.path());
                frame.writeDouble(range.low());
                frame.writeDouble(range.high());
            }
        }
        call();
        long total = frame.readLong();
        int read = frame.readInt();
        long digests = 0;
        for (int i = 0; i < read; i++) {
            long number = frame.readLong();
            int length = frame.readInt();
            JsonNode content = JsonText.TRUSTING.readTree(frame.array(), frame.position(), length);
            frame.skip(length);
            digests = 31 * digests + Digest.of(new JsonDocument(number, content));
        }
        return new Outcome(total, read, digests);
    }

    /** Sends the frame, and receives the answer in it. */
    private void call() throws IOException {
        int sent = frame.send(channel);
        int received = frame.receive(channel);
        if (received < 0) {
            throw new EOFException("the server closed the connection");
        }
        traffic = traffic.plus(new Traffic((long) sent + received, 0));
        if (frame.readByte() != SocketProtocol.DONE) {
            throw new IOException("the server answered: " + frame.readText());
        }
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
