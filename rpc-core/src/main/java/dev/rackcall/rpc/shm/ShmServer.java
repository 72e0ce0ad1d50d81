package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.spi.ServerEndpoint;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.EventPoll;
import dev.rackcall.shm.os.Message;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.OwnerLock;
import dev.rackcall.shm.os.PeerCredentials;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.UnixSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server's doors: one listening socket a channel, one thread that accepts and agrees on memory, and the pollers that do everything after
 * that. Connecting never disturbs a poller for longer than it takes to put one entry into its list.
 */
final class ShmServer implements ServerEndpoint {
    private static final Logger LOG = LoggerFactory.getLogger(ShmServer.class);
    private static final int BACKLOG = 1024;
    /** Sockets that may be open without having said hello. An honest client says it at once. */
    private static final int MAX_GUESTS = 256;

    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** A client that has connected but not said hello is dropped after this. */
    private static final long HELLO_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** How long a lock may be held by somebody who only cleans up. */
    private static final long LOCK_BOUND_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final long LOCK_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    /** After accepting failed, for want of descriptors mostly: the waiting client is still there, so the next wait would not wait. */
    private static final long FAILED_ACCEPT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final LogLimit LOG_LIMIT = new LogLimit();

    private final ServerSpec spec;
    private final RuntimeDirectory directory;
    private final EventPoll events = EventPoll.create();
    private final List<Door> doors = new ArrayList<>();
    private final Pollers pollers;
    private final Handlers handlers;
    private final ConnectionCount connections = new ConnectionCount();
    /** Oldest first. */
    private final LinkedHashMap<Long, Guest> guests = new LinkedHashMap<>();

    /** False until the directory was found to be private: somebody else's must not be touched. */
    private boolean mayUseDirectory;

    private long lastTag;
    private volatile boolean draining;
    private volatile boolean stopping;
    private final Thread acceptor = new Thread(this::accept, "rackcall-accept");

    /** One channel: its lock, its listening socket, what it serves. */
    private record Door(long tag, OwnerLock lock, UnixSocket socket, ConnectionFactory factory) {}

    /** A socket that was accepted and has not said hello. */
    private record Guest(UnixSocket socket, PeerCredentials credentials, Door door, long since) {}

    private ShmServer(ServerSpec spec) {
        this.spec = spec;
        this.directory = RuntimeDirectory.at(spec.directory());
        this.handlers = Handlers.of(spec.dispatch());
        this.pollers = new Pollers(spec);
        acceptor.setDaemon(true);
    }

    static ShmServer start(ServerSpec spec) {
        ShmServer server = new ShmServer(spec);
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
        String channel = service.definition().channel();
        RuntimeDirectory.checkName(channel);
        OwnerLock lock = acquire(channel);
        UnixSocket socket = null;
        ConnectionFactory factory = null;
        try {
            Files.deleteIfExists(directory.socket(channel));
            ConnectionPlan.checkHost(channel, spec.hugePages());
            factory = new ConnectionFactory(spec, service, handlers);
            socket = UnixSocket.listen(directory.socket(channel), BACKLOG);
            Door door = new Door(++lastTag, lock, socket, factory);
            events.add(socket.fd(), door.tag());
            doors.add(door);
        } catch (IOException | RuntimeException | Error e) {
            if (socket != null) {
                socket.close();
            }
            if (factory != null) {
                factory.close();
            }
            lock.close();
            throw whyNotOpened(channel, e);
        }
    }

    private RuntimeException whyNotOpened(String channel, Throwable cause) {
        return switch (cause) {
            case IOException e -> cannotListen(channel, e);
            case OsException e -> cannotListen(channel, e);
            case OutOfArenaException e ->
                Status.Code.RESOURCE_EXHAUSTED
                        .with("channel %s: no memory for its shared arena: %s", channel, e.getMessage())
                        .asException(e);
            case RuntimeException e -> e;
            case Error e -> throw e;
            default -> throw new AssertionError(cause);
        };
    }

    private RpcException cannotListen(String channel, Exception cause) {
        return Status.Code.FAILED_PRECONDITION
                .with("channel %s: cannot be served from %s: %s", channel, directory.path(), cause.getMessage())
                .asException(cause);
    }

    /** The channel's lock. Whoever removes what a dead server left holds it for a moment, and may remove the directory when he was the last. */
    private OwnerLock acquire(String channel) {
        long end = System.nanoTime() + LOCK_BOUND_NANOS;
        while (true) {
            boolean last = System.nanoTime() - end >= 0;
            try {
                Optional<OwnerLock> lock = OwnerLock.tryAcquire(directory.lock(channel));
                if (lock.isPresent()) {
                    return lock.get();
                }
                if (last) {
                    throw Status.Code.ALREADY_EXISTS
                            .with(
                                    "channel %s already has a living server in %s; stop it, or serve another channel",
                                    channel, directory.path())
                            .asException();
                }
            } catch (OsException e) {
                if (last || e.errno() != Errno.ENOENT) {
                    throw cannotListen(channel, e);
                }
                directory.create();
            }
            LockSupport.parkNanos(LOCK_POLL_NANOS);
        }
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
                    handle(events.tag(i));
                }
                pollers.relieveIfStuck();
                if (System.nanoTime() - lastTick > TICK_NANOS) {
                    lastTick = System.nanoTime();
                    dropSilentGuests(lastTick);
                    doors.forEach(door -> door.factory().tick());
                }
            } catch (RuntimeException | Error e) {
                if (LOG_LIMIT.allows()) {
                    LOG.error("accepting a connection failed; the server goes on{}", LOG_LIMIT.skipped(), e);
                }
                LockSupport.parkNanos(FAILED_ACCEPT_NANOS);
            }
        }
    }

    private void handle(long tag) {
        for (Door door : doors) {
            if (door.tag() == tag) {
                // If more are waiting, the next look says so.
                door.socket().accept().ifPresent(guest -> admit(guest, door));
                return;
            }
        }
        Guest guest = guests.remove(tag);
        if (guest != null) {
            events.remove(guest.socket().fd());
            greetOrAwait(guest);
        }
    }

    private void admit(UnixSocket socket, Door door) {
        try {
            PeerCredentials peer = socket.peer();
            if (peer.uid() != Uid.current()) {
                refuseStranger(socket, peer, door.factory().channel());
                return;
            }
            // Most have said hello by now.
            greetOrAwait(new Guest(socket, peer, door, System.nanoTime()));
        } catch (RuntimeException | Error e) {
            socket.close();
            throw e;
        }
    }

    private void greetOrAwait(Guest guest) {
        if (greet(guest)) {
            return;
        }
        if (guests.size() >= MAX_GUESTS) {
            dropGuest(guests.pollFirstEntry().getValue());
        }
        long tag = ++lastTag;
        events.add(guest.socket().fd(), tag);
        guests.put(tag, guest);
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
    private boolean greet(Guest guest) {
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
            if (draining) {
                refuse(
                        socket,
                        Status.Code.UNAVAILABLE.with("channel %s: its server is shutting down", hello.channel()));
            } else if (connections.isFull(spec.maxConnections())) {
                refuse(
                        socket,
                        Status.Code.RESOURCE_EXHAUSTED.with(
                                "channel %s: all %d connections are taken; close some, or raise the server's maxConnections",
                                hello.channel(), spec.maxConnections()));
            } else {
                connect(guest, hello);
            }
        } catch (Handshake.MalformedException e) {
            refuse(socket, Status.Code.FAILED_PRECONDITION.with("the handshake failed: %s", e.getMessage()));
        } catch (RuntimeException | Error e) {
            if (LOG_LIMIT.allows()) {
                LOG.warn(
                        "a client of channel {} was turned away: {}{}",
                        guest.door().factory().channel(),
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

    private void connect(Guest guest, Handshake.Hello hello) {
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

    private void dropSilentGuests(long now) {
        guests.values().removeIf(guest -> {
            if (now - guest.since() < HELLO_NANOS) {
                return false;
            }
            dropGuest(guest);
            return true;
        });
    }

    private void dropGuest(Guest guest) {
        events.remove(guest.socket().fd());
        guest.socket().close();
    }

    // ---- the end

    @Override
    public void drain() {
        draining = true;
        pollers.drain();
    }

    @Override
    public boolean awaitDrained(Duration bound) {
        return pollers.awaitDrained(bound);
    }

    @Override
    public int connections() {
        return connections.connected();
    }

    @Override
    public void close() {
        draining = true;
        stopping = true;
        events.wakeUp();
        try {
            acceptor.join(TimeUnit.SECONDS.toMillis(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        closeDoors();
        guests.values().forEach(guest -> guest.socket().close());
        pollers.stop();
        handlers.close();
        doors.forEach(door -> door.factory().close());
        events.close();
    }

    private void closeDoors() {
        for (Door door : doors) {
            door.socket().close();
            try {
                Files.deleteIfExists(directory.socket(door.factory().channel()));
            } catch (IOException e) {
                LOG.warn(
                        "the socket of channel {} stays behind: {}",
                        door.factory().channel(),
                        e.toString());
            }
            door.lock().close();
        }
        if (mayUseDirectory) {
            directory.removeIfEmpty();
        }
    }
}
