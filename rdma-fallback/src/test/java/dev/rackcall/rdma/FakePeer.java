package dev.rackcall.rdma;

import dev.rackcall.rdma.end.ForeignPeerException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;

/** A TCP port that answers clients as no server of this project does. */
public final class FakePeer implements AutoCloseable {
    /** The answer to a client's hello. */
    @FunctionalInterface
    public interface Behaviour {
        /** Answers; afterwards the connection is closed. */
        void answer(PairHello client, OutputStream out) throws IOException;
    }

    private final ServerSocket port;
    private final Behaviour behaviour;

    private FakePeer(ServerSocket port, Behaviour behaviour) {
        this.port = port;
        this.behaviour = behaviour;
    }

    static FakePeer start(Behaviour behaviour) throws IOException {
        FakePeer peer = new FakePeer(new ServerSocket(0, 10, InetAddress.getLoopbackAddress()), behaviour);
        Thread.ofVirtual().start(peer::serve);
        return peer;
    }

    private void serve() {
        while (!port.isClosed()) {
            try (Socket socket = port.accept()) {
                behaviour.answer(PairHello.read(socket.getInputStream()), socket.getOutputStream());
            } catch (IOException | ForeignPeerException e) {
                // The client has gone, or this end has; the test handles both.
                Thread.yield();
            }
        }
    }

    URI address() {
        return URI.create("rdma://127.0.0.1:" + port.getLocalPort());
    }

    /** A hello with this packet and without a queue pair: a refusal. */
    static PairHello refusal(byte[] packet) {
        return PairHello.refusal(ByteBuffer.wrap(packet));
    }

    @Override
    public void close() throws IOException {
        port.close();
    }
}
