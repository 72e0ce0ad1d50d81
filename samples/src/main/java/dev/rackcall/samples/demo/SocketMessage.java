package dev.rackcall.samples.demo;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A message between {@link SocketClient} and {@link SocketServer}: 4 bytes of length, then the content. A request begins with a byte that names it,
 * an answer with {@link #DONE}, or with {@link #FAILED} and a text. A document is its number (8 bytes), its length (4 bytes) and its JSON.
 */
final class SocketMessage extends DataOutputStream {
    /** Number of documents, documents. Answer: the store's number of documents. */
    static final byte PUT = 1;
    /** Path, text. Answer: number of matches, number of documents, documents. */
    static final byte WITH_TEXT = 2;
    /** Path, two doubles. Answer: as to {@link #WITH_TEXT}. */
    static final byte WITH_NUMBER = 3;

    static final byte DONE = 0;
    static final byte FAILED = 1;

    private static final int MAX_BYTES = 1 << 30;

    private SocketMessage() {
        super(new ByteArrayOutputStream());
    }

    /** A message to be filled in; {@code kind} is its first byte. */
    static SocketMessage of(byte kind) throws IOException {
        SocketMessage message = new SocketMessage();
        message.writeByte(kind);
        return message;
    }

    static UnixDomainSocketAddress address(Path directory) {
        return UnixDomainSocketAddress.of(directory.resolve("store.sock"));
    }

    void writeText(String text) throws IOException {
        writeBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    void writePath(List<String> path) throws IOException {
        writeInt(path.size());
        for (String name : path) {
            writeText(name);
        }
    }

    void writeDocument(long number, byte[] json) throws IOException {
        writeLong(number);
        writeBytes(json);
    }

    private void writeBytes(byte[] bytes) throws IOException {
        writeInt(bytes.length);
        write(bytes);
    }

    /** Sends the message; returns its bytes. */
    int send(SocketChannel channel) throws IOException {
        byte[] content = ((ByteArrayOutputStream) out).toByteArray();
        if (content.length > MAX_BYTES) {
            throw new IOException("a message of " + content.length
                    + " bytes is too long; hand over fewer documents at once (--batch)");
        }
        ByteBuffer[] parts = {ByteBuffer.allocate(Integer.BYTES).putInt(0, content.length), ByteBuffer.wrap(content)};
        while (parts[1].hasRemaining()) {
            channel.write(parts);
        }
        return Integer.BYTES + content.length;
    }

    /** Waits for a message; returns its content, or null if the peer has closed the connection instead. */
    static ByteBuffer receive(SocketChannel channel) throws IOException {
        ByteBuffer length = ByteBuffer.allocate(Integer.BYTES);
        if (!fill(length, channel)) {
            return null;
        }
        if (length.getInt(0) < 0 || length.getInt(0) > MAX_BYTES) {
            throw new IOException("a message claims to have " + length.getInt(0) + " bytes");
        }
        ByteBuffer content = ByteBuffer.allocate(length.getInt(0));
        if (!fill(content, channel)) {
            throw new EOFException("the peer closed the connection in the middle of a message");
        }
        return content.flip();
    }

    private static boolean fill(ByteBuffer buffer, SocketChannel channel) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                return false;
            }
        }
        return true;
    }

    static byte[] readBytes(ByteBuffer content) {
        byte[] bytes = new byte[content.getInt()];
        content.get(bytes);
        return bytes;
    }

    static String readText(ByteBuffer content) {
        return new String(readBytes(content), StandardCharsets.UTF_8);
    }

    static List<String> readPath(ByteBuffer content) {
        int names = content.getInt();
        List<String> path = new ArrayList<>();
        for (int i = 0; i < names; i++) {
            path.add(readText(content));
        }
        return path;
    }
}
