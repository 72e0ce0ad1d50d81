package dev.rackcall.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import dev.rackcall.verbs.soft.wire.LinkHello;
import dev.rackcall.verbs.soft.wire.SoftGid;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A peer that sends exactly what the test specifies. */
final class RawPeer implements AutoCloseable {
    private static final int PATIENCE_MILLIS = Math.toIntExact(Await.BOUND.toMillis());

    private final Socket socket;

    RawPeer(Gid target) throws IOException {
        socket = new Socket(
                SoftGid.address(target).getAddress(), SoftGid.address(target).getPort());
        socket.setSoTimeout(PATIENCE_MILLIS);
    }

    /** Over a connection that another kind of socket has made. */
    RawPeer(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(PATIENCE_MILLIS);
    }

    /** Connects with a GID of its own, and is accepted. */
    static RawPeer accepted(Gid target) throws IOException {
        return accepted(target, RawIdentity.local());
    }

    static RawPeer accepted(Gid target, RawIdentity identity) throws IOException {
        RawPeer peer = new RawPeer(target);
        assertThat(peer.greet(identity.hello(target))).isEqualTo(LinkHello.Answer.ACCEPTED);
        return peer;
    }

    /** Sends a hello and returns the answer. */
    LinkHello.Answer greet(ByteBuffer hello) throws IOException {
        send(hello);
        return LinkHello.Answer.values()[read(FrameLayout.HELLO_BYTES).getInt(FrameLayout.HELLO_ANSWER)];
    }

    static ByteBuffer hello(int magic, int version, Gid target) {
        return RawIdentity.local().hello(magic, version, target);
    }

    static ByteBuffer request(int length, int kind) {
        return ByteBuffer.allocate(Math.max(FrameLayout.REQUEST_BYTES, length))
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0, length)
                .put(4, (byte) kind);
    }

    static byte[] toArray(ByteBuffer bytes) {
        byte[] array = new byte[bytes.capacity()];
        bytes.get(0, array);
        return array;
    }

    void send(ByteBuffer bytes) throws IOException {
        socket.getOutputStream().write(toArray(bytes));
        socket.getOutputStream().flush();
    }

    void sendPart(ByteBuffer bytes, int length) throws IOException {
        socket.getOutputStream().write(toArray(bytes), 0, length);
        socket.getOutputStream().flush();
    }

    ByteBuffer read(int length) throws IOException {
        byte[] bytes = socket.getInputStream().readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException("after " + bytes.length + " bytes");
        }
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Reads what has arrived, so that the device can go on. */
    void skipAnswers() throws IOException {
        socket.getInputStream().skip(socket.getInputStream().available());
    }

    /** Whether the device closes the connection, within the timeout. */
    boolean isClosed() {
        try {
            while (socket.getInputStream().read() >= 0) {
                // Skip pending bytes.
            }
            return true;
        } catch (java.net.SocketTimeoutException e) {
            return false;
        } catch (IOException reset) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
