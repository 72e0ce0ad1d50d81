package dev.rackcall.rdma;

import dev.rackcall.rdma.end.ForeignPeerException;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.TlsOptions;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLSocket;
import jdk.net.ExtendedSocketOptions;

/**
 * Connects two ends over TCP, or over TLS if the software device has certificates. Used by one thread.
 *
 * <ol>
 *   <li>The client sends its hello. The server connects a queue pair and answers with an invitation: a hello that names
 *       one word of memory and carries no packet.
 *   <li>The client connects its queue pair and writes to the word, which shows that its device reaches the server's. It
 *       sends one byte. Only now does the server reserve memory.
 *   <li>The server sends its hello with that memory, and one byte once it can receive.
 * </ol>
 *
 * <p>Each wait is bounded by the time limit, and all waits together by twice that: a peer that only sends a byte now
 * and then loses its place. Only waiting counts, not this end's own work, such as opening its device for the first
 * time.
 */
final class PairHandshake {
    private static final int READY = 1;
    /** What a client writes to the word in its invitation. */
    static final long PROOF = 1;

    /** A device may acknowledge the proof a moment before the processor sees it. */
    private static final long PROOF_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long PROOF_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /**
     * TCP notices a peer whose host is gone after {@code KEEPALIVE_IDLE + KEEPALIVE_TRIES} seconds, even on an idle
     * connection.
     */
    private static final int KEEPALIVE_IDLE = 5;

    private static final int KEEPALIVE_TRIES = 5;

    private final Socket socket;
    private final DeviceKind devices;
    private final int millis;
    /** The socket, or TLS over it. */
    private Socket stream;

    /** How much longer all waits may take. */
    private long leftNanos;

    private boolean refused;

    private PairHandshake(Socket socket, DeviceKind devices, int millis) {
        this.socket = socket;
        this.stream = socket;
        this.devices = devices;
        this.millis = millis;
        this.leftNanos = TimeUnit.MILLISECONDS.toNanos(2L * millis);
    }

    /** The stream of the peer's bytes; each read is bounded by the time limit. */
    private InputStream said() throws IOException {
        return new FilterInputStream(stream.getInputStream()) {
            @Override
            public int read() throws IOException {
                return bounded(super::read);
            }

            @Override
            public int read(byte[] bytes, int from, int length) throws IOException {
                return bounded(() -> super.read(bytes, from, length));
            }
        };
    }

    /** Something that waits for the peer. */
    private interface Wait {
        int await() throws IOException;
    }

    private int bounded(Wait wait) throws IOException {
        long begin = System.nanoTime();
        if (left() <= 0) {
            throw tooLate(null);
        }
        stream.setSoTimeout((int) Math.min(millis, left()));
        Optional<Future<?>> watch =
                stream == socket ? Optional.empty() : Optional.of(PairWatchdog.watch(socket, leftNanos));
        try {
            return wait.await();
        } catch (IOException e) {
            throw System.nanoTime() - begin >= leftNanos ? tooLate(e) : e;
        } finally {
            watch.ifPresent(running -> running.cancel(false));
            leftNanos -= System.nanoTime() - begin;
        }
    }

    private SocketTimeoutException tooLate(IOException cause) {
        SocketTimeoutException late =
                new SocketTimeoutException("the peer has not completed the handshake within " + 2L * millis + " ms");
        late.initCause(cause);
        return late;
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
        // Rounded up: when the wait fails, the time is up. 0 would mean no limit.
        return Math.clamp(timeout.plusNanos(999_999).toMillis(), 1, Integer.MAX_VALUE);
    }

    /** Continues over TLS if the device here has certificates. */
    void secure(boolean isServer) throws IOException {
        Optional<TlsOptions> tls = RdmaDevice.tls(devices, socket.getLocalAddress());
        if (tls.isPresent()) {
            SSLSocket secured = PairTls.over(socket, tls.get(), isServer);
            stream = secured;
            bounded(() -> {
                secured.startHandshake();
                return 0;
            });
        }
    }

    /** The names in the peer's certificate; none without TLS. */
    Set<String> names() throws IOException {
        return stream instanceof SSLSocket secured ? PairTls.names(secured.getSession()) : Set.of();
    }

    /** An end without memory, over the device with this socket's local address. */
    PairEnd end(int publications) {
        RdmaDevice device = RdmaDevice.acquire(devices, socket.getLocalAddress());
        try {
            return new PairEnd(device, publications);
        } catch (RuntimeException | Error e) {
            device.release();
            throw e;
        }
    }

    /** A client's carrier, not connected yet. */
    PairCarrier carrier(MemorySegment memory, int publications) {
        PairEnd end = end(publications);
        try {
            return carrier(end, memory);
        } catch (RuntimeException | Error e) {
            end.discard();
            throw e;
        }
    }

    /** A carrier for this end, as {@link PairCarrier#open}. */
    PairCarrier carrier(PairEnd end, MemorySegment memory) {
        return PairCarrier.open(end, socket, stream, memory);
    }

    /** The client's part; returns the server's packet. */
    ByteBuffer sendHello(PairCarrier carrier, ByteBuffer hello) throws IOException, ForeignPeerException {
        carrier.hello(hello).write(stream.getOutputStream());
        PairHello invitation = readHello();
        if (isRefused(invitation)) {
            return invitation.hello().packet();
        }
        carrier.prove(invitation, TimeUnit.MILLISECONDS.toNanos(Math.min(millis, left())));
        say();
        PairHello server = readHello();
        long answered = System.nanoTime();
        if (!isRefused(server)) {
            // Less than the true difference by the hello's travel time, so no deadline expires later at the server.
            carrier.meet(server, server.hello().clock() - answered);
            hear();
            carrier.watch();
        }
        return server.hello().packet();
    }

    private boolean isRefused(PairHello answer) {
        refused = answer.isRefusal();
        return refused;
    }

    /** The peer's next hello. */
    PairHello readHello() throws IOException, ForeignPeerException {
        PairHello peer = PairHello.read(said());
        if (SoftDevice.isElsewhere(peer.gid(), socket.getInetAddress())) {
            // The device here would connect there: the peer must not choose the address.
            throw new ForeignPeerException("its device is not at its own address, " + socket.getInetAddress()
                    + ", but at that of GID " + peer.gid()
                    + "; software devices work without address translation between the hosts");
        }
        return peer;
    }

    /**
     * Invites a client, and waits until it has written to the word in the invitation: it has a device, which the
     * certificates of both sides admit.
     */
    void invite(PairEnd end, PairHello client) throws IOException, ForeignPeerException {
        MemoryRegion proof = end.makeProof();
        end.connect(client);
        end.hello(proof, ByteBuffer.allocate(0)).write(stream.getOutputStream());
        hear();
        long begin = System.nanoTime();
        // Partner: the WRITE of PairCarrier.prove, by the device.
        while ((long) ValueLayout.JAVA_LONG.varHandle().getAcquire(proof.memory(), 0L) != PROOF) {
            if (socket.isClosed()) {
                throw new EOFException("its place was given to a newer client");
            }
            if (System.nanoTime() - begin > PROOF_NANOS) {
                throw new ForeignPeerException("it says that it is ready, but its device has written nothing here");
            }
            LockSupport.parkNanos(PROOF_PAUSE_NANOS);
        }
    }

    /** The server's answer to a client that gets no connection. */
    void refuse(ByteBuffer welcome) throws IOException {
        PairHello.refusal(welcome).write(stream.getOutputStream());
    }

    /** The server's hello to a client that has a seat; then {@link #say} ends the handshake. */
    void welcome(PairCarrier carrier, ByteBuffer welcome) throws IOException {
        carrier.hello(welcome).write(stream.getOutputStream());
    }

    /** Tells the peer that this end can receive. */
    void say() throws IOException {
        // Read only once: right after the byte, the peer may call, close, and thereby end this socket.
        OutputStream out = stream.getOutputStream();
        out.write(READY);
        out.flush();
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
            // Ended first: its last data would wait for a queue pair that the peer has closed.
            carrier.end("the handshake failed");
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
