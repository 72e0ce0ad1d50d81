package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.server.ConnectionFactory;
import dev.rackcall.rpc.shm.server.PolledServer;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.PeerCredentials;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.shm.waiting.SpinTime;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A server of this host's clients: one listening socket per channel, one thread that accepts clients and agrees on
 * memory, and the pollers that do the rest. A new connection costs a poller one list entry.
 */
final class ShmServer extends PolledServer {
    private static final LimitedLog LOG = LimitedLog.of(ShmServer.class);
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** Between two checks whether the sockets are still at their paths. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /** An honest client says hello at once. */
    private static final long HELLO_NANOS = TimeUnit.SECONDS.toNanos(5);
    /**
     * Pause after a failed accept, mostly for lack of descriptors: the client is still pending, so the next wait would
     * return at once.
     */
    private static final long FAILED_ACCEPT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final RuntimeDirectory directory;
    private final String id = RuntimeDirectory.newId();
    private final EventPoll events = EventPoll.create();
    private final Map<Long, ChannelSocket> doors = new LinkedHashMap<>();
    private final PendingClients guests;
    /** False until the directory was found to be private: another user's directory must not be touched. */
    private boolean mayUseDirectory;

    private long lastTag;
    private volatile boolean stopping;
    private final Thread acceptor = new Thread(this::accept, "rackcall-accept");

    private ShmServer(ServerSpec spec, long helloNanos) {
        super(spec);
        this.guests = new PendingClients(events, helloNanos);
        this.directory = RuntimeDirectory.at(spec.place().directory());
        acceptor.setDaemon(true);
    }

    static ShmServer start(ServerSpec spec) {
        return start(spec, HELLO_NANOS);
    }

    /** @param helloNanos how long a client may be silent after it has connected */
    static ShmServer start(ServerSpec spec, long helloNanos) {
        ShmServer server = new ShmServer(spec, helloNanos);
        try {
            server.directory.create();
            server.mayUseDirectory = true;
            for (ServerSpec.Service<?> service : spec.services()) {
                server.openDoor(service);
            }
            server.startPollers(SpinTime::ofMemory);
            server.acceptor.start();
        } catch (RuntimeException | Error e) {
            server.close();
            throw e;
        }
        return server;
    }

    private void openDoor(ServerSpec.Service<?> service) {
        ChannelSocket door = ChannelSocket.open(directory, id, spec, service, handlers);
        long tag = ++lastTag;
        doors.put(tag, door);
        door.socket().watch(events, tag);
    }

    // ---- the accepting thread

    private void accept() {
        long lastTick = System.nanoTime();
        long lastLook = lastTick;
        while (!stopping) {
            try {
                int count = events.await(untilNextWatch());
                for (int i = 0; i < count; i++) {
                    tryHandle(events.tag(i));
                }
                watchPollers();
                long now = System.nanoTime();
                if (now - lastTick > TICK_NANOS) {
                    lastTick = now;
                    guests.dropSilent(now);
                    doors.values().forEach(door -> door.factory().tick());
                }
                if (now - lastLook > LOOK_NANOS) {
                    lastLook = now;
                    listenAgain();
                }
            } catch (RuntimeException | Error e) {
                failed(e);
            }
        }
    }

    private void listenAgain() {
        doors.forEach((tag, door) -> {
            if (door.listenAgainIfLost()) {
                door.socket().watch(events, tag);
            }
        });
    }

    /** Handles an event; its failure must not stop the relief of handlers and the dropping of silent clients. */
    private void tryHandle(long tag) {
        try {
            handle(tag);
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    private static void failed(Throwable thrown) {
        LOG.error("accepting a connection failed; the server goes on", thrown);
        LockSupport.parkNanos(FAILED_ACCEPT_NANOS);
    }

    private void handle(long tag) {
        ChannelSocket door = doors.get(tag);
        if (door != null) {
            // If more are pending, the next wait reports them.
            door.socket().accept().ifPresent(socket -> admit(socket, door));
        } else {
            guests.take(tag).ifPresent(this::greetOrAwait);
        }
    }

    private void admit(UnixSocket socket, ChannelSocket door) {
        try {
            PeerCredentials peer = socket.peer();
            // Clients of other users take no places for clients without a hello.
            Optional<Status> refusal = peer.uid() == Uid.current() ? Optional.empty() : refusal(peer, door.channel());
            if (refusal.isPresent()) {
                refuse(socket, refusal.get());
                return;
            }
            // Most clients have sent their hello by now.
            greetOrAwait(new PendingClients.Guest(socket, peer, door, System.nanoTime()));
        } catch (RuntimeException | Error e) {
            socket.close();
            throw e;
        }
    }

    private void greetOrAwait(PendingClients.Guest guest) {
        if (!greet(guest)) {
            guests.add(guest, ++lastTag);
        }
    }

    private Optional<Status> refusal(PeerCredentials client, String channel) {
        return access.refusesUser(channel, client.uid(), client.pid(), Uid.current());
    }

    /** Answers a client's hello; returns false if it has not arrived yet. */
    private boolean greet(PendingClients.Guest guest) {
        UnixSocket socket = guest.socket();
        try {
            Optional<Message> message = socket.receive(Duration.ZERO);
            if (message.isEmpty()) {
                return false;
            }
            if (message.get().isEnd()) {
                socket.close();
                return true;
            }
            message.get().closeFds();
            Handshake.ClientHello hello =
                    Handshake.ClientHello.decode(message.get().bytes());
            // Not earlier: a client whose hello is not read gets a reset connection instead of the reason.
            Optional<Status> refusal = refusal(guest.credentials(), guest.door().channel());
            if (refusal.isPresent()) {
                refuse(socket, refusal.get());
                return true;
            }
            requireRoom(hello.channel());
            connect(guest, hello);
        } catch (Handshake.MalformedException e) {
            refuse(socket, Status.Code.FAILED_PRECONDITION.with("the handshake failed: %s", e.getMessage()));
        } catch (RuntimeException | Error e) {
            // Clients that retry while the server drains are not worth a log line.
            if (!isDraining()) {
                LOG.warn("a client of channel {} was refused: {}", guest.door().channel(), e.toString());
            }
            refuse(
                    socket,
                    e instanceof RpcException known
                            ? known.status()
                            : Status.Code.RESOURCE_EXHAUSTED.with(
                                    "the server cannot take a connection: %s", e.getMessage()));
        }
        return true;
    }

    private void connect(PendingClients.Guest guest, Handshake.ClientHello hello) {
        PeerCredentials credentials = guest.credentials();
        Peer peer = new Peer(credentials.pid(), credentials.uid(), credentials.gid());
        ConnectionFactory.Offer offer = counted(() -> guest.door()
                .factory()
                .prepare(guest.socket(), hello, peer, channel -> refusal(credentials, channel), connections));
        try (offer) {
            // Add first: a client calls as soon as it has the answer, possibly on this thread's processor.
            add(offer.connection());
            offer.send();
        } catch (OsException | IllegalStateException e) {
            // Only the poller closes the socket, which it may be about to watch.
            offer.connection().discard();
            LOG.debug("a client hung up before it was connected: {}", e.getMessage());
        } catch (RuntimeException | Error e) {
            offer.connection().discard();
            throw e;
        }
    }

    private static void refuse(UnixSocket socket, Status status) {
        try (socket) {
            socket.send(Handshake.ServerHello.refusal(status).encode());
        } catch (OsException | IllegalStateException e) {
            LOG.debug("a refused client did not wait for the reason: {}", e.getMessage());
        }
    }

    @Override
    public Optional<String> instance() {
        return Optional.of(id);
    }

    @Override
    protected void wakeWatcher() {
        events.wakeUp();
    }

    // ---- the end

    @Override
    public void close() {
        admitNobody();
        stopping = true;
        events.wakeUp();
        join(acceptor);
        doors.values().forEach(ChannelSocket::shut);
        if (mayUseDirectory) {
            directory.removeIfEmpty();
        }
        guests.close();
        endCalls();
        doors.values().forEach(door -> door.factory().close());
        events.close();
    }
}
