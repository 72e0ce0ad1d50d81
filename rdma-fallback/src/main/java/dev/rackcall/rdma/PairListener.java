package dev.rackcall.rdma;

import dev.rackcall.rdma.end.ForeignPeerException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.rpc.spi.CarrierProvider.Answer;
import dev.rackcall.rpc.spi.CarrierProvider.Inspection;
import dev.rackcall.rpc.spi.CarrierProvider.Reception;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** A TCP port where clients connect, with a virtual thread for each client that is not connected yet. */
final class PairListener implements CarrierProvider.Listener {
    private static final LimitedLog LOG = LimitedLog.of(PairListener.class);
    private static final int BACKLOG = 256;
    /** Pause after a failed accept, which usually means that no file descriptors are left. */
    private static final long FAILED_ACCEPT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final DeviceKind devices;
    private final ServerSocket port;
    private final URI address;
    private final Reception reception;
    /** Limits log lines, which any process that reaches the port can cause. */
    private final PairGuests guests = new PairGuests();

    private volatile boolean closed;

    private PairListener(DeviceKind devices, ServerSocket port, URI address, Reception reception) {
        this.devices = devices;
        this.port = port;
        this.address = address;
        this.reception = reception;
    }

    static PairListener open(DeviceKind devices, URI wanted, InetSocketAddress place, Reception reception) {
        try {
            ServerSocket port = new ServerSocket();
            port.setReuseAddress(true);
            try {
                port.bind(place, BACKLOG);
            } catch (IOException e) {
                port.close();
                throw e;
            }
            URI address = devices.address(wanted.getHost(), port.getLocalPort());
            PairListener listener = new PairListener(devices, port, address, reception);
            Thread.ofVirtual().name("rackcall-rdma-accept").start(listener::accept);
            return listener;
        } catch (IOException e) {
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "cannot listen at %s: %s; is the port free, and the address this host's?",
                            wanted, e.getMessage())
                    .asException(e);
        }
    }

    @Override
    public URI address() {
        return address;
    }

    private void accept() {
        while (!closed) {
            try {
                admit(port.accept());
            } catch (IOException | RuntimeException | Error e) {
                // Includes a host without memory or threads to spare: later clients must still be accepted.
                if (!closed) {
                    LOG.warn("a client of {} could not be accepted: {}", address, e.toString());
                    LockSupport.parkNanos(FAILED_ACCEPT_NANOS);
                }
            }
        }
    }

    private void admit(Socket socket) throws IOException {
        if (!guests.admit(socket)) {
            // The client tries again.
            socket.close();
            return;
        }
        try {
            Thread.ofVirtual().name("rackcall-rdma-guest").start(() -> receive(socket));
        } catch (RuntimeException | Error e) {
            guests.leaves(socket);
            socket.close();
            throw e;
        }
    }

    private void receive(Socket socket) {
        try {
            greet(socket);
        } catch (IOException | ForeignPeerException | VerbsException e) {
            turnedAway(socket, e.getMessage());
        } catch (RuntimeException | Error e) {
            turnedAway(socket, e.toString());
            LOG.debug("a client of {} was rejected", address, e);
        } finally {
            guests.leaves(socket);
        }
    }

    private void turnedAway(Socket socket, String why) {
        LOG.warn("a client of {} at {} was rejected: {}", address, socket.getRemoteSocketAddress(), why);
        PairHandshake.giveUp(null, socket);
    }

    private void greet(Socket socket) throws IOException, ForeignPeerException {
        PairHandshake handshake = PairHandshake.over(socket, devices, RdmaSettings.helloTimeout());
        handshake.secure(true);
        PairHello client = handshake.readHello();
        long ahead = client.hello().clock() - System.nanoTime();
        Inspection inspection = reception.inspect(client.hello().packet(), handshake.names());
        if (inspection.refusal().isPresent()) {
            handshake.refuse(inspection.refusal().get());
            socket.close();
            return;
        }
        guests.reaches(socket, PairGuests.Stage.GREETED);
        PairEnd end = orRefuse(handshake, () -> handshake.end(inspection.publications()));
        Answer answer;
        try {
            handshake.invite(end, client);
            guests.reaches(socket, PairGuests.Stage.PROVEN);
            answer = reception.greet(client.hello().packet());
        } catch (IOException | ForeignPeerException | RuntimeException | Error e) {
            end.discard();
            throw e;
        }
        if (answer.seat().isEmpty()) {
            end.discard();
            handshake.refuse(answer.welcome());
            socket.close();
            return;
        }
        PairCarrier carrier = seat(handshake, client, end, answer);
        carrier.meet(client, ahead);
        answer.seat().get().take(carrier);
        carrier.watch();
        handshake.say();
    }

    /** Opens this end with the memory of its seat, and tells the client. Leaves the seat if that fails. */
    private PairCarrier seat(PairHandshake handshake, PairHello client, PairEnd end, Answer answer)
            throws IOException, ForeignPeerException {
        MemorySegment memory = answer.seat().get().memory().mapped();
        PairCarrier carrier = null;
        try {
            client.hello().requireRoom(memory.byteSize());
            carrier = orRefuse(handshake, () -> handshake.carrier(end, memory));
            handshake.welcome(carrier, answer.welcome());
            return carrier;
        } catch (IOException | ForeignPeerException | RuntimeException | Error e) {
            if (carrier == null) {
                end.discard();
            } else {
                carrier.close();
            }
            answer.seat().get().leave();
            throw e;
        }
    }

    /** Makes a part of this end, or tells the client why the device refuses. */
    private <T> T orRefuse(PairHandshake handshake, Supplier<T> part) throws IOException {
        try {
            return part.get();
        } catch (VerbsException e) {
            Status why = PairCarriers.code(e).with("no connection over RDMA at the server: %s", e.getMessage());
            handshake.refuse(reception.refusal(why));
            throw e;
        }
    }

    @Override
    public void close() {
        closed = true;
        try {
            port.close();
        } catch (IOException e) {
            LOG.warn("the port of {} cannot be closed: {}", address, e.toString());
        }
    }
}
