package dev.rackcall.rdma;

import dev.rackcall.rdma.end.ForeignPeerException;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLException;

/**
 * Connects two ends over TCP at {@code SCHEME://host:port}; then each writes into the other's memory. The scheme
 * selects the kind of device.
 */
abstract sealed class PairCarriers implements CarrierProvider permits RdmaCarriers, SoftCarriers {
    /** How often to try to connect to a server that hangs up. */
    private static final int TRIES = 6;

    /** The pause after the first try; doubles with each try. */
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final DeviceKind devices;

    PairCarriers(DeviceKind devices) {
        this.devices = devices;
    }

    @Override
    public final String scheme() {
        return devices.scheme();
    }

    @Override
    public final Optional<String> openness(URI address) {
        if (address.getHost() == null || isLoopback(address.getHost())) {
            // Without a host, listening fails.
            return Optional.empty();
        }
        if (isHardware(address)) {
            return Optional.of("an RDMA device knows no certificates");
        }
        return RdmaSettings.softwareDevices().tls().isPresent()
                ? Optional.empty()
                : Optional.of("the software device has no TLS");
    }

    /** Resolves no names. */
    static boolean isLoopback(String host) {
        if (host == null) {
            return false;
        }
        try {
            return host.equals("localhost") || InetAddress.ofLiteral(host).isLoopbackAddress();
        } catch (IllegalArgumentException e) {
            // The host is a name, not an address.
            return false;
        }
    }

    @Override
    public final Listener listen(URI address, Reception reception) {
        return PairListener.open(devices, address, hostAndPort(address), reception);
    }

    @Override
    public final Greeted connect(URI address, Memory memory, ByteBuffer hello, int publications, Duration timeout) {
        InetSocketAddress place = hostAndPort(address);
        long end = System.nanoTime() + timeout.toNanos();
        long pause = FIRST_PAUSE_NANOS;
        for (int tries = 1; ; tries++) {
            try {
                return meet(place, memory, hello, publications, end, timeout);
            } catch (EOFException e) {
                // The server has too many guests, or this client was too slow. Both may change.
                if (tries == TRIES || System.nanoTime() + pause - end >= 0) {
                    throw failure(address, timeout, e);
                }
                LockSupport.parkNanos(pause);
                if (System.nanoTime() - end >= 0) {
                    // The pause ran longer than planned: report what the peer did, not a timeout.
                    throw failure(address, timeout, e);
                }
                pause *= 2;
            } catch (IOException | ForeignPeerException | RuntimeException e) {
                throw failure(address, timeout, e);
            }
        }
    }

    private Greeted meet(
            InetSocketAddress place, Memory memory, ByteBuffer hello, int publications, long end, Duration limit)
            throws IOException, ForeignPeerException {
        // Opened before the server waits: the first time, much code is loaded.
        RdmaDevice device = RdmaDevice.acquire(devices, localAddress(place));
        Socket socket = new Socket();
        PairCarrier carrier = null;
        try {
            Duration timeout = left(end, limit);
            socket.connect(place, PairHandshake.millis(timeout));
            PairHandshake handshake = PairHandshake.over(socket, devices, timeout);
            handshake.secure(false);
            carrier = handshake.carrier(memory.mapped(), publications);
            Optional<Carrier> mine = Optional.of(carrier);
            ByteBuffer welcome = handshake.sendHello(carrier, hello);
            if (handshake.isRefused()) {
                // Ended first: its last data would wait for a queue pair that the server has closed.
                carrier.end("the server refuses this client");
                carrier.close();
                mine = Optional.empty();
            }
            return new Greeted(welcome, mine);
        } catch (IOException | ForeignPeerException | RuntimeException e) {
            PairHandshake.giveUp(carrier, socket);
            if (e instanceof SocketException && socket.isConnected()) {
                // A peer that hangs up before it has read everything resets the connection.
                throw hungUp(e);
            }
            throw e;
        } finally {
            device.release();
        }
    }

    /** The time left after the device was opened. */
    private static Duration left(long end, Duration limit) throws IOException {
        long nanos = end - System.nanoTime();
        if (nanos <= 0) {
            throw new IOException("the device here was opened only after the time limit of " + limit
                    + "; give the channel a longer connectTimeout, or open one to any server before");
        }
        return Duration.ofNanos(nanos);
    }

    private static EOFException hungUp(Exception reset) {
        EOFException end = new EOFException("the peer hung up: " + reset.getMessage());
        end.initCause(reset);
        return end;
    }

    /**
     * The local address of packets to that place. Sends none: connecting a datagram socket already selects the route.
     */
    private static InetAddress localAddress(InetSocketAddress place) throws IOException {
        if (place.isUnresolved()) {
            throw new UnknownHostException(place.getHostString());
        }
        // Opened first, so that it is closed even if it cannot connect.
        try (DatagramChannel route = DatagramChannel.open()) {
            route.connect(place);
            return ((InetSocketAddress) route.getLocalAddress()).getAddress();
        }
    }

    /** The status of a call that fails for this reason. A port that is down may come up again. */
    static Status.Code code(VerbsException e) {
        return e.errno() == VerbsErrno.ENETDOWN ? Status.Code.UNAVAILABLE : Status.Code.FAILED_PRECONDITION;
    }

    private static RpcException failure(URI address, Duration timeout, Exception cause) {
        return switch (cause) {
            case RpcException e -> e;
            case ForeignPeerException e ->
                Status.Code.FAILED_PRECONDITION
                        .with("the peer at %s does not fit: %s", address, e.getMessage())
                        .asException(e);
            case VerbsException e ->
                code(e).with("no connection over RDMA to %s from here: %s", address, e.getMessage())
                        .asException(e);
            case ConnectException e ->
                Status.Code.UNAVAILABLE
                        .with(
                                "no server is listening at %s (%s); is the server running, and the port right?%s",
                                address, e.getMessage(), RdmaDevice.portsDown())
                        .asException(e);
            case SocketTimeoutException e ->
                Status.Code.UNAVAILABLE
                        .with(
                                "%s did not answer within %s; it may be stopped or overloaded%s",
                                address, timeout, RdmaDevice.portsDown())
                        .asException(e);
            case SSLException e ->
                Status.Code.UNAVAILABLE
                        .with(
                                "no TLS with %s: %s; do both sides have certificates, and does each trust the other's (RdmaSettings.tls)?",
                                address, e.getMessage())
                        .asException(e);
            case SilentDeviceException e ->
                (e.isFull() ? Status.Code.RESOURCE_EXHAUSTED : Status.Code.UNAVAILABLE)
                        .with("%s answers, but %s", address, e.getMessage())
                        .asException(e);
            case EOFException e ->
                Status.Code.UNAVAILABLE
                        .with(
                                "%s hangs up on clients: %s; if it is a Rackcall server, its log says why: it may have too many guests, not trust this process's certificate, or this process may be too slow for it%s",
                                address, e.getMessage(), RdmaDevice.portsDown())
                        .asException(e);
            case IOException e ->
                Status.Code.UNAVAILABLE
                        .with("%s cannot be reached: %s%s", address, e, RdmaDevice.portsDown())
                        .asException(e);
            default -> throw (RuntimeException) cause;
        };
    }

    static InetSocketAddress hostAndPort(URI address) {
        if (address.getHost() == null || address.getPort() < 0) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("'%s' is not an address; write %s://host:port", address, address.getScheme())
                    .asException();
        }
        return new InetSocketAddress(address.getHost(), address.getPort());
    }
}
