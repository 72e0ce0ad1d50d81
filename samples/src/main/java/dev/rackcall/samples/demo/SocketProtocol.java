package dev.rackcall.samples.demo;

import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;

/**
 * The messages between {@link SocketClient} and {@link SocketServer}. A request begins with a byte that says what it is, an answer with
 * {@link #DONE} or with {@link #FAILED} and a text. Documents are their number (8 bytes), their length (4 bytes) and their JSON.
 */
final class SocketProtocol {
    /** Number of documents, documents. Answer: how many the store has. */
    static final byte PUT = 1;
    /** Path, text. Answer: how many match, number of documents, documents. */
    static final byte WITH_TEXT = 2;
    /** Path, two doubles. Answer: as to {@link #WITH_TEXT}. */
    static final byte WITH_NUMBER = 3;

    static final byte DONE = 0;
    static final byte FAILED = 1;

    private SocketProtocol() {}

    static UnixDomainSocketAddress address(Path directory) {
        return UnixDomainSocketAddress.of(directory.resolve("store.sock"));
    }
}
