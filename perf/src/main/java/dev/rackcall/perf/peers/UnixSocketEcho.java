package dev.rackcall.perf.peers;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.Payload;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * Bytes there and back over a blocking Unix socket, with a thread of the server for each client: what a Java program
 * does without any library.
 *
 * @param bytes there and back
 */
public record UnixSocketEcho(int bytes) implements Sides {
    private static final String NAME = "uds";

    /** The choices for the report. */
    public static String settings() {
        return "java.nio SocketChannel over a Unix socket, blocking, direct buffers, one server thread for each client, no encoding";
    }

    private static UnixDomainSocketAddress address(Path directory) {
        return UnixDomainSocketAddress.of(directory.resolve("echo.sock"));
    }

    @Override
    public ServerSide serve(Path directory) throws IOException {
        ServerSocketChannel listener =
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(address(directory));
        daemon(() -> accept(listener));
        return () -> close(listener);
    }

    @Override
    public ClientSide connect(Path directory) throws IOException {
        return new Client(SocketChannel.open(address(directory)), bytes);
    }

    /** The threads end with the process: closing the listener leaves the connections open. */
    private static void daemon(Runnable task) {
        Thread.ofPlatform().daemon().name("uds-echo").start(task);
    }

    private void accept(ServerSocketChannel listener) {
        try {
            while (true) {
                SocketChannel connection = listener.accept();
                daemon(() -> answer(connection));
            }
        } catch (ClosedChannelException e) {
            // The server has closed.
        } catch (IOException e) {
            throw new IllegalStateException("the server cannot accept connections", e);
        }
    }

    private void answer(SocketChannel connection) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes);
        try (connection) {
            while (receive(connection, buffer)) {
                send(connection, buffer);
            }
        } catch (IOException e) {
            // The client has ended.
        }
    }

    /** Fills the buffer; false at the end of the connection. */
    private static boolean receive(SocketChannel connection, ByteBuffer buffer) throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            if (connection.read(buffer) < 0) {
                return false;
            }
        }
        buffer.flip();
        return true;
    }

    private static void send(SocketChannel connection, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            connection.write(buffer);
        }
    }

    private static void close(AutoCloseable channel) {
        try {
            channel.close();
        } catch (Exception e) {
            throw new IllegalStateException("a channel cannot be closed", e);
        }
    }

    private static final class Client implements ClientSide {
        private final SocketChannel connection;
        private final ByteBuffer buffer;
        private final byte[] payload;

        Client(SocketChannel connection, int bytes) {
            this.connection = connection;
            this.buffer = ByteBuffer.allocateDirect(bytes);
            this.payload = Payload.of(bytes);
        }

        @Override
        public void call(long sequence) throws IOException {
            Payload.mark(payload, sequence);
            buffer.clear().put(payload).flip();
            send(connection, buffer);
            if (!receive(connection, buffer)) {
                throw new IOException("the server has closed the connection");
            }
            buffer.get(payload);
            Payload.check(NAME, payload, payload.length, sequence);
        }

        @Override
        public void close() {
            UnixSocketEcho.close(connection);
        }
    }
}
