package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.server.ConnectionFactory;
import dev.rackcall.rpc.shm.server.PolledServer;
import dev.rackcall.rpc.shm.server.Poller;
import dev.rackcall.rpc.spi.LogLimit;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.PeerCredentials;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server's doors: one listening socket a channel, one thread that accepts and agrees on memory, and the pollers that do everything after
 * that. Connecting never disturbs a poller for longer than it takes to put one entry into its list.
 */
final class ShmServer extends PolledServer {
    private static final Logger LOG = LoggerFactory.getLogger(ShmServer.class);
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** An honest client says hello at once. */
    private static final long HELLO_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** After accepting failed, for want of descriptors mostly: the waiting client is still there, so the next wait would not wait. */
    private static final long FAILED_ACCEPT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final LogLimit LOG_LIMIT = new LogLimit();

    private final RuntimeDirectory directory;
    private final EventPoll events = EventPoll.create();
    private final Map<Long, ChannelDoor> doors = new LinkedHashMap<>();
    private final Guests guests;
    /** False until the directory was found to be private: somebody else's must not be touched. */
    private boolean mayUseDirectory;

    private long lastTag;
    private volatile boolean stopping;
    private final Thread acceptor = new Thread(this::accept, "rackcall-accept");

    private ShmServer(ServerSpec spec, long helloNanos) {
        super(spec);
        this.guests = new Guests(events, helloNanos);
        this.directory = RuntimeDirectory.at(spec.directory());
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
            server.pollers.start();
            server.acceptor.start();
        } catch (RuntimeException | Error e) {
            server.close();
            throw e;
        }
        return server;
    }

    private void openDoor(ServerSpec.Service<?> service) {
        ChannelDoor door = ChannelDoor.open(directory, spec, service, handlers);
        long tag = ++lastTag;
        doors.put(tag, door);
        events.add(door.socket().fd(), tag);
    }

    // ---- the accepting thread

    private void accept() {
        long lastTick = System.nanoTime();
        while (!stopping) {
            try {
                boolean awake = pollers.isAnyAwake();
                int count = events.await(
                        awake ? Math.min(TICK_NANOS, spec.stuckAfter().toNanos()) : TICK_NANOS);
                for (int i = 0; i < count; i++) {
                    tryHandle(events.tag(i));
                }
                pollers.relieveIfStuck();
                if (System.nanoTime() - lastTick > TICK_NANOS) {
                    lastTick = System.nanoTime();
                    guests.dropSilent(lastTick);
                    doors.values().forEach(door -> door.factory().tick());
                }
            } catch (RuntimeException | Error e) {
                failed(e);
            }
        }
    }

    /** Whatever keeps a client out, want of descriptors mostly, handlers must be relieved and silent guests dropped all the same. */
    private void tryHandle(long tag) {
        try {
            handle(tag);
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    private static void failed(Throwable thrown) {
        if (LOG_LIMIT.allows()) {
            LOG.error("accepting a connection failed; the server goes on{}", LOG_LIMIT.skipped(), thrown);
        }
        LockSupport.parkNanos(FAILED_ACCEPT_NANOS);
    }

    private void handle(long tag) {
        ChannelDoor door = doors.get(tag);
        if (door != null) {
            // If more are waiting, the next look says so.
            door.socket().accept().ifPresent(socket -> admit(socket, door));
        } else {
            guests.take(tag).ifPresent(this::greetOrAwait);
        }
    }

    private void admit(UnixSocket socket, ChannelDoor door) {
        try {
            PeerCredentials peer = socket.peer();
            if (peer.uid() != Uid.current()) {
                refuseStranger(socket, peer, door.channel());
                return;
            }
            // Most have said hello by now.
            greetOrAwait(new Guests.Guest(socket, peer, door, System.nanoTime()));
        } catch (RuntimeException | Error e) {
            socket.close();
            throw e;
        }
    }

    private void greetOrAwait(Guests.Guest guest) {
        if (!greet(guest)) {
            guests.add(guest, ++lastTag);
        }
    }

    private static void refuseStranger(UnixSocket socket, PeerCredentials peer, String channel) {
        if (LOG_LIMIT.allows()) {
            LOG.warn("uid {} (pid {}) may not use channel {}{}", peer.uid(), peer.pid(), channel, LOG_LIMIT.skipped());
        }
        refuse(
                socket,
                Status.Code.PERMISSION_DENIED.with(
                        "channel %s is served for uid %d only, not for uid %d", channel, Uid.current(), peer.uid()));
    }

    /** Answers what the guest has sent; false if that is nothing yet. */
    private boolean greet(Guests.Guest guest) {
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
            Handshake.Hello hello = Handshake.Hello.decode(message.get().bytes());
            requireRoom(hello.channel());
            connect(guest, hello);
        } catch (Handshake.MalformedException e) {
            refuse(socket, Status.Code.FAILED_PRECONDITION.with("the handshake failed: %s", e.getMessage()));
        } catch (RuntimeException | Error e) {
            if (LOG_LIMIT.allows()) {
                LOG.warn(
                        "a client of channel {} was turned away: {}{}",
                        guest.door().channel(),
                        e.toString(),
                        LOG_LIMIT.skipped());
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

    private void connect(Guests.Guest guest, Handshake.Hello hello) {
        PeerCredentials credentials = guest.credentials();
        Peer peer = new Peer(credentials.pid(), credentials.uid(), credentials.gid());
        connections.comes();
        ConnectionFactory.Offer offer;
        try {
            offer = guest.door().factory().prepare(guest.socket(), hello, peer, connections);
        } catch (RuntimeException | Error e) {
            connections.hangsUp();
            connections.isReleased();
            throw e;
        }
        Poller poller = pollers.quietest();
        try (offer) {
            // In this order: once the client knows, it calls at once, and on a machine with few processors it does so
            // on this thread's.
            poller.add(offer.connection());
            offer.send();
        } catch (RuntimeException | Error e) {
            poller.discard(offer.connection());
            throw e;
        }
    }

    private static void refuse(UnixSocket socket, Status status) {
        try (socket) {
            socket.send(Handshake.Welcome.refusal(status).encode());
        } catch (OsException | IllegalStateException e) {
            LOG.debug("a refused client did not wait for the reason: {}", e.getMessage());
        }
    }

    // ---- the end

    @Override
    public void close() {
        admitNobody();
        stopping = true;
        events.wakeUp();
        try {
            acceptor.join(TimeUnit.SECONDS.toMillis(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        doors.values().forEach(ChannelDoor::shut);
        if (mayUseDirectory) {
            directory.removeIfEmpty();
        }
        guests.close();
        endCalls();
        doors.values().forEach(door -> door.factory().close());
        events.close();
    }
}
