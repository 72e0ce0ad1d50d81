package dev.rackcall.rdma;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.verbs.Errno;
import dev.rackcall.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;

/** {@code rdma://host:port}: two ends meet over TCP at that address, and then write into each other's memory. */
public final class RdmaCarriers implements CarrierProvider {
    /** For {@code ServiceLoader}. */
    public RdmaCarriers() {}

    @Override
    public String scheme() {
        return "rdma";
    }

    @Override
    public boolean isHardware(URI address) {
        return RdmaDevice.isReal(isLoopback(address.getHost()));
    }

    /** Without asking anybody what a name stands for. */
    private static boolean isLoopback(String host) {
        if (host == null) {
            return false;
        }
        try {
            return host.equals("localhost") || InetAddress.ofLiteral(host).isLoopbackAddress();
        } catch (IllegalArgumentException e) {
            // A name.
            return false;
        }
    }

    @Override
    public Listener listen(URI address, Reception reception) {
        return RdmaListener.open(address, hostAndPort(address), reception);
    }

    @Override
    public Greeted connect(URI address, MemorySegment memory, ByteBuffer hello, int publications, Duration timeout) {
        InetSocketAddress place = hostAndPort(address);
        Socket socket = new Socket();
        RdmaCarrier carrier = null;
        try {
            socket.connect(place, Meeting.millis(timeout));
            Meeting meeting = Meeting.over(socket, timeout);
            carrier = meeting.carrier(memory, publications);
            Optional<Carrier> mine = Optional.of(carrier);
            ByteBuffer welcome = meeting.greetServer(carrier, hello);
            if (meeting.isRefused()) {
                carrier.close();
                mine = Optional.empty();
            }
            return new Greeted(welcome, mine);
        } catch (IOException | ForeignPeerException | RuntimeException e) {
            Meeting.giveUp(carrier, socket);
            throw failure(address, timeout, e);
        }
    }

    /** What it is to a call: a port that is down may come up again. */
    static Status.Code code(VerbsException e) {
        return e.errno() == Errno.ENETDOWN ? Status.Code.UNAVAILABLE : Status.Code.FAILED_PRECONDITION;
    }

    private static RpcException failure(URI address, Duration timeout, Exception cause) {
        return switch (cause) {
            case RpcException e -> e;
            case ForeignPeerException e ->
                Status.Code.FAILED_PRECONDITION
                        .with("the peer at %s cannot be spoken to: %s", address, e.getMessage())
                        .asException(e);
            case VerbsException e ->
                code(e).with("no connection over RDMA to %s from here: %s", address, e.getMessage())
                        .asException(e);
            case ConnectException e ->
                Status.Code.UNAVAILABLE
                        .with(
                                "nobody listens at %s (%s); is the server running, and the port right?%s",
                                address, e.getMessage(), RdmaDevice.portsDown())
                        .asException(e);
            case SocketTimeoutException e ->
                Status.Code.UNAVAILABLE
                        .with(
                                "%s did not answer within %s; it may be stopped or overloaded%s",
                                address, timeout, RdmaDevice.portsDown())
                        .asException(e);
            case SilentDeviceException e ->
                Status.Code.UNAVAILABLE
                        .with("%s answers, but %s", address, e.getMessage())
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
                    .with("'%s' is no address; write rdma://host:port", address)
                    .asException();
        }
        return new InetSocketAddress(address.getHost(), address.getPort());
    }
}
