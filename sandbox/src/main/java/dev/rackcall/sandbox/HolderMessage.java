package dev.rackcall.sandbox;

import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Messages over a {@link SealHolder}'s socket, until both sides share memory: a kind and fixed big-endian fields. Each
 * kind below lists its fields and, after the semicolon, its descriptors. */
final class HolderMessage {
    /** A process opens a session: address, bytes, page bytes, arena id; userfaultfd (only in its first session),
     * requests, arena. */
    static final byte SEALER = 'S';
    /** The holder accepts the session: its number; answers. */
    static final byte ACCEPTED = 'A';
    /** Asks the holder to check the process for obstacles. The answer has the same kind. */
    static final byte CHECK = 'K';
    /** The process has given up what could lift seals. */
    static final byte READY = 'R';
    /** A receiver joins a session: session, offset of the arena in its file; marks, arena. */
    static final byte RECEIVER = 'C';
    /** Tells the sealed process that its receiver has joined; marks. */
    static final byte MARKS = 'M';
    /** A refusal with its reason. */
    static final byte REFUSED = 'X';

    static final int SESSION_BYTES = 16;
    private static final int MAX_REASON = 2000;
    private static final Duration BOUND = Duration.ofSeconds(10);

    private HolderMessage() {}

    static byte[] sealer(SealedArea area) {
        ByteBuffer message = ByteBuffer.allocate(1 + SealedArea.BYTES).put(SEALER);
        area.write(message);
        return message.array();
    }

    static byte[] accepted(byte[] session) {
        return ByteBuffer.allocate(1 + SESSION_BYTES).put(ACCEPTED).put(session).array();
    }

    static byte[] receiver(byte[] session, long fileOffset) {
        return ByteBuffer.allocate(9 + SESSION_BYTES)
                .put(RECEIVER)
                .put(session)
                .putLong(fileOffset)
                .array();
    }

    static byte[] bare(byte kind) {
        return new byte[] {kind};
    }

    static byte[] refused(String reason) {
        byte[] text = reason.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(text.length, MAX_REASON);
        return ByteBuffer.allocate(1 + length).put(REFUSED).put(text, 0, length).array();
    }

    static byte[] session(ByteBuffer fields) {
        byte[] session = new byte[SESSION_BYTES];
        fields.get(session);
        return session;
    }

    /** The fields, which follow the kind of a message. */
    static ByteBuffer fields(Message message) {
        return ByteBuffer.wrap(message.bytes(), 1, message.bytes().length - 1);
    }

    /** Returns the next message. Closes its descriptors and throws unless it is of this kind and carries this many
     * descriptors. */
    static Message expect(UnixSocket socket, byte kind, int descriptors) throws IOException {
        return expect(socket, kind, descriptors, BOUND);
    }

    static Message expect(UnixSocket socket, byte kind, int descriptors, Duration patience) throws IOException {
        return require(receive(socket, patience), kind, descriptors);
    }

    /** The next message of any kind except a refusal. */
    static Message expect(UnixSocket socket) throws IOException {
        return receive(socket, BOUND);
    }

    private static Message receive(UnixSocket socket, Duration patience) throws IOException {
        Message message = socket.receive(patience)
                .orElseThrow(() -> new IOException("no answer within " + patience.toSeconds() + " s"));
        if (message.isEnd()) {
            throw new IOException("the other side has hung up");
        }
        if (message.bytes()[0] == REFUSED) {
            message.closeFds();
            throw new IOException(new String(message.bytes(), 1, message.bytes().length - 1, StandardCharsets.UTF_8));
        }
        return message;
    }

    static boolean isOf(Message message, byte kind, int descriptors) {
        return message.bytes()[0] == kind && message.fds().length == descriptors;
    }

    /** Returns the message, or closes its descriptors and throws if it is of another kind. */
    static Message require(Message message, byte kind, int descriptors) throws IOException {
        if (!isOf(message, kind, descriptors)) {
            message.closeFds();
            throw new IOException("an unexpected kind of message");
        }
        return message;
    }
}
