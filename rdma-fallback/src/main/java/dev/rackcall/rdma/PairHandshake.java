package dev.rackcall.rdma;

import dev.rackcall.rdma.end.ForeignPeerException;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;

/**
 * Connects two ends over TCP. The client sends its hello, the server answers with its own. Each sends one byte once its
 * queue pair can receive. Then the client checks that its device reaches the server's. Used by one thread.
 *
 * <p>Each wait is bounded by the time limit, and all waits together by twice that: a peer that only sends a byte now
 * and then loses its place. Only waiting counts, not this end's own work, such as opening its device for the first
 * time.
 */
final class PairHandshake {
    private static final int READY = 1;
    /**
     * TCP notices a peer whose host is gone after {@code KEEPALIVE_IDLE + KEEPALIVE_TRIES} seconds, even on an idle
     * connection.
     */
    private static final int KEEPALIVE_IDLE = 5;

    private static final int KEEPALIVE_TRIES = 5;

    private final Socket socket;
    private final DeviceKind devices;
    private final int millis;
    /** How much longer all waits may take. */
    private long leftNanos;

    private boolean refused;

    private PairHandshake(Socket socket, DeviceKind devices, int millis) {
        this.socket = socket;
        this.devices = devices;
        this.millis = millis;
        this.leftNanos = TimeUnit.MILLISECONDS.toNanos(2L * millis);
    }

    /** The stream of the peer's bytes; each read is bounded by the time limit. */
    private InputStream said() throws IOException {
        return new FilterInputStream(socket.getInputStream()) {
            @Override
            public int read() throws IOException {
                long begin = limit();
                try {
                    return super.read();
                } finally {
                    leftNanos -= System.nanoTime() - begin;
                }
            }

            @Override
            public int read(byte[] bytes, int from, int length) throws IOException {
                long begin = limit();
                try {
                    return super.read(bytes, from, length);
                } finally {
                    leftNanos -= System.nanoTime() - begin;
                }
            }
        };
    }

    /** Bounds the wait that begins now; returns the current time. */
    private long limit() throws IOException {
        long left = left();
        if (left <= 0) {
            throw new SocketTimeoutException("the peer has not completed the handshake within " + 2L * millis + " ms");
        }
        socket.setSoTimeout((int) Math.min(millis, left));
        return System.nanoTime();
    }

    /** Milliseconds left for the rest of the handshake. */
    private long left() {
        return TimeUnit.NANOSECONDS.toMillis(leftNanos);
    }

    static PairHandshake over(Socket socket, DeviceKind devices, Duration timeout) throws IOException {
        socket.setTcpNoDelay(true);
        socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        socket.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, KEEPALIVE_IDLE);
        socket.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 1);
        socket.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, KEEPALIVE_TRIES);
        return new PairHandshake(socket, devices, millis(timeout));
    }

    static int millis(Duration timeout) {
        // Rounded up: when the wait fails, the time is over. 0 would mean no limit.
        return Math.clamp(timeout.plusNanos(999_999).toMillis(), 1, Integer.MAX_VALUE);
    }

    /** An end over the device with this socket's local address. */
    PairCarrier carrier(MemorySegment memory, int publications) {
        RdmaDevice device = RdmaDevice.acquire(devices, socket.getLocalAddress());
        try {
            return PairCarrier.open(device, socket, memory, publications);
        } catch (RuntimeException | Error e) {
            device.release();
            throw e;
        }
    }

    /** The client's part; returns the server's packet. */
    ByteBuffer sendHello(PairCarrier carrier, ByteBuffer hello) throws IOException, ForeignPeerException {
        carrier.hello(hello).write(socket.getOutputStream());
        PairHello server = PairHello.read(said());
        long answered = System.nanoTime();
        if (server.isRefusal()) {
            refused = true;
            return server.hello().packet();
        }
        // Less than the true difference by the hello's travel time, so no deadline expires later at the server.
        carrier.connect(server, server.hello().clock() - answered);
        say();
        hear();
        carrier.watch();
        carrier.probe(TimeUnit.MILLISECONDS.toNanos(Math.min(millis, left())));
        return server.hello().packet();
    }

    /** The client's hello. */
    PairHello readHello() throws IOException, ForeignPeerException {
        return PairHello.read(said());
    }

    /** The server's answer to a client that gets no connection. */
    void refuse(ByteBuffer welcome) throws IOException {
        PairHello.refusal(welcome).write(socket.getOutputStream());
    }

    /** The server's part, once the client has a seat; then {@link #say} ends the handshake. */
    void answerHello(PairCarrier carrier, PairHello client, ByteBuffer welcome)
            throws IOException, ForeignPeerException {
        carrier.connect(client, client.hello().clock() - System.nanoTime());
        carrier.hello(welcome).write(socket.getOutputStream());
        hear();
    }

    /** Tells the peer that this end can receive. */
    void say() throws IOException {
        socket.getOutputStream().write(READY);
        socket.getOutputStream().flush();
    }

    private void hear() throws IOException, ForeignPeerException {
        int said = said().read();
        if (said < 0) {
            throw new EOFException("the peer hung up before it was connected");
        }
        if (said != READY) {
            throw new ForeignPeerException("it says " + said + " where " + READY + " is due");
        }
    }

    boolean isRefused() {
        return refused;
    }

    /** Closes the carrier, if there is one, and the socket. */
    static void giveUp(PairCarrier carrier, Socket socket) {
        if (carrier != null) {
            carrier.close();
        }
        try {
            socket.close();
        } catch (IOException e) {
            // The connection is abandoned in any case.
            assert socket.isClosed();
        }
    }
}
