package dev.rackcall.samples.demo;

import java.io.EOFException;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * The messages between {@link SocketClient} and {@link SocketServer}: 4 bytes of length, then JSON. A request is a
 * {@link QueryPlan.Query}, the number of a document, or an array of documents: their count, then the number and the
 * content of each. The answer to a query is the number of matches, then the found documents in the same form; to a
 * number, its document in the same form; to documents, the store's size. A string is an error.
 */
final class SocketMessage {
    private static final int MAX_BYTES = 1 << 30;

    private SocketMessage() {}

    static UnixDomainSocketAddress address(Path directory) {
        return UnixDomainSocketAddress.of(directory.resolve("store.sock"));
    }

    /** Sends a message; returns its bytes. */
    static int send(SocketChannel channel, byte[] json) throws IOException {
        if (json.length > MAX_BYTES) {
            throw new IOException(
                    "a message of " + json.length + " bytes is too long; hand over fewer documents at once (--batch)");
        }
        ByteBuffer[] parts = {ByteBuffer.allocate(Integer.BYTES).putInt(0, json.length), ByteBuffer.wrap(json)};
        while (parts[1].hasRemaining()) {
            channel.write(parts);
        }
        return Integer.BYTES + json.length;
    }

    /** Waits for a message; returns its JSON. */
    static byte[] receive(SocketChannel channel) throws IOException {
        int length = fill(ByteBuffer.allocate(Integer.BYTES), channel).getInt();
        if (length < 0 || length > MAX_BYTES) {
            throw new IOException("a message claims to have " + length + " bytes");
        }
        return fill(ByteBuffer.allocate(length), channel).array();
    }

    private static ByteBuffer fill(ByteBuffer buffer, SocketChannel channel) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw new EOFException("the peer closed the connection");
            }
        }
        return buffer.flip();
    }
}
