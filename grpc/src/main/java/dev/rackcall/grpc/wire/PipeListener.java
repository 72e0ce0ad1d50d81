package dev.rackcall.grpc.wire;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.runtime.ServerInstance;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.file.OwnerLock;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.PeerCredentials;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Where clients connect to one channel: the lock that proves a living server, the socket, and a thread that accepts.
 */
public final class PipeListener implements AutoCloseable {
    private static final LimitedLog LOG = LimitedLog.of(PipeListener.class);

    private static final int BACKLOG = 1024;
    private static final long DOOR = 0;
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /** An honest client says hello at once. */
    private static final long HELLO_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** Clients that have connected and not said hello. The oldest is dropped for a new one. */
    private static final int MOST_SILENT = 256;
    /** Pause after a failed accept: the client is still there, so the next wait would return at once. */
    private static final long FAILED_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    /** How long a process that cleans up after a dead server may hold the lock. */
    private static final long LOCK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** Servers that start at the same time may draw the same id. */
    private static final int MOST_DRAWS = 4;

    private static final long LOCK_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** Handles new connections. */
    public interface Clients {
        /** {@linkplain PipeConnection#begin Begins} it, or throws to refuse it. On the accepting thread. */
        void accept(PipeConnection connection);
    }

    private record Guest(UnixSocket socket, PeerCredentials peer, long since) {}

    private final RuntimeDirectory directory;
    private final String channel;
    private final ServerInstance place;
    private final OwnerLock lock;
    private final Clients clients;
    private final PipeLoop loop;
    private final EventPoll events = EventPoll.create();
    private final LinkedHashMap<Long, Guest> silent = new LinkedHashMap<>();
    private final Thread thread;
    private volatile UnixSocket socket;
    private volatile boolean stopping;
    private long lastTag;

    private PipeListener(
            RuntimeDirectory directory,
            ServerInstance place,
            OwnerLock lock,
            UnixSocket socket,
            PipeLoop loop,
            Clients clients) {
        this.directory = directory;
        this.place = place;
        this.channel = place.channel();
        this.lock = lock;
        this.socket = socket;
        this.loop = loop;
        this.clients = clients;
        this.thread = new Thread(this::run, "rackcall-grpc-accept");
        thread.setDaemon(true);
    }

    /**
     * Starts to listen, in addition to the channel's other servers. Clients that connect wait until it is {@linkplain
     * #start started}.
     *
     * @param loop receives the frames of all clients
     * @throws IOException if this host does not permit it
     */
    public static PipeListener open(RuntimeDirectory directory, String channel, PipeLoop loop, Clients clients)
            throws IOException {
        ServerInstance place = null;
        OwnerLock lock = null;
        UnixSocket socket = null;
        PipeListener listener = null;
        try {
            RuntimeDirectory.checkName(channel);
            directory.create();
            PipeServers.cleanDead(directory, channel);
            for (int draws = 1; lock == null; draws++) {
                place = PipeServers.newPlace(directory, channel);
                lock = acquire(directory, place, draws == MOST_DRAWS);
            }
            Files.deleteIfExists(place.socket());
            socket = UnixSocket.listen(place.socket(), BACKLOG);
            directory.cleanAtExit(place);
            listener = new PipeListener(directory, place, lock, socket, loop, clients);
            socket.watch(listener.events, DOOR);
            return listener;
        } catch (RuntimeException e) {
            undo(listener, socket, lock, place);
            throw new IOException("channel " + channel + " cannot be served: " + e.getMessage(), e);
        } catch (IOException | Error e) {
            undo(listener, socket, lock, place);
            throw e;
        }
    }

    private static void undo(PipeListener listener, UnixSocket socket, OwnerLock lock, ServerInstance place) {
        if (listener != null) {
            listener.events.close();
        }
        if (socket != null) {
            socket.close();
        }
        if (lock != null) {
            lock.close();
            RuntimeDirectory.forgetAtExit(place);
        }
    }

    /** Returns null if another server has drawn the same id at the same time; fails if no further draw is allowed. */
    private static OwnerLock acquire(RuntimeDirectory directory, ServerInstance place, boolean lastDraw)
            throws IOException {
        long end = System.nanoTime() + LOCK_NANOS;
        while (true) {
            boolean last = System.nanoTime() - end >= 0;
            try {
                Optional<OwnerLock> lock = OwnerLock.tryAcquire(place.lock());
                if (lock.isPresent()) {
                    return lock.get();
                }
                if (last && !lastDraw) {
                    return null;
                }
                if (last) {
                    throw new IOException("channel " + place.channel() + ": " + place.owner() + " keeps " + place.lock()
                            + " locked; start again");
                }
            } catch (OsException e) {
                if (last || e.errno() != Errno.ENOENT) {
                    throw e;
                }
                // A process that cleaned up has removed the directory.
                directory.create();
            }
            LockSupport.parkNanos(LOCK_POLL_NANOS);
        }
    }

    /** Starts to accept clients. Called at most once. */
    public void start() {
        thread.start();
    }

    /** The server's id in the runtime folder. */
    public String id() {
        return place.id();
    }

    private void run() {
        while (!stopping) {
            try {
                int count = events.await(TICK_NANOS);
                for (int i = 0; i < count && !stopping; i++) {
                    if (events.tag(i) == DOOR) {
                        acceptAll();
                    } else {
                        heard(events.tag(i));
                    }
                }
                tick();
            } catch (RuntimeException | Error e) {
                if (!stopping) {
                    LOG.warn("channel {}: a client was not accepted: {}", channel, e.toString());
                    LockSupport.parkNanos(FAILED_NANOS);
                }
            }
        }
        silent.values().forEach(guest -> guest.socket().close());
        silent.clear();
        events.close();
    }

    private void acceptAll() {
        for (Optional<UnixSocket> next = socket.accept(); next.isPresent(); next = socket.accept()) {
            UnixSocket client = next.get();
            try {
                if (client.peer().uid() != Uid.current()) {
                    client.send(
                            PipeHello.refusal(
                                    Status.Code.PERMISSION_DENIED.with("its server serves only its own user")),
                            Duration.ZERO);
                    client.close();
                    continue;
                }
                if (silent.size() >= MOST_SILENT) {
                    drop(silent.pollFirstEntry().getValue());
                }
                long tag = ++lastTag;
                client.watch(events, tag);
                silent.put(tag, new Guest(client, client.peer(), System.nanoTime()));
            } catch (RuntimeException | Error e) {
                client.close();
                throw e;
            }
        }
    }

    private void drop(Guest guest) {
        guest.socket().unwatch(events);
        guest.socket().close();
    }

    private void heard(long tag) {
        Guest guest = silent.remove(tag);
        if (guest == null) {
            return;
        }
        guest.socket().unwatch(events);
        boolean connected = false;
        try {
            Optional<Message> hello = guest.socket().receive(Duration.ZERO);
            if (hello.isPresent()) {
                hello.get().closeFds();
                connected = !hello.get().isEnd() && greet(guest, hello.get().bytes());
            }
        } finally {
            if (!connected) {
                guest.socket().close();
            }
        }
    }

    private boolean greet(Guest guest, byte[] hello) {
        if (!PipeHello.isClient(hello, channel)) {
            guest.socket().send(PipeHello.refusal(PipeHello.strange()), Duration.ZERO);
            return false;
        }
        PipeMemory memory = PipeMemory.create(channel);
        PipeConnection connection =
                PipeConnection.ofMemory(guest.socket(), memory, PipeLayout.Side.SERVER, guest.peer(), loop);
        // From here on, the loop closes the socket and the memory.
        try {
            clients.accept(connection);
        } catch (RuntimeException | Error e) {
            connection.discard();
            throw e;
        }
        connection.start();
        try {
            memory.file().lend(fd -> guest.socket().send(PipeHello.ofServer(), Duration.ZERO, fd));
        } catch (OsException | IllegalStateException e) {
            LOG.debug("a client hung up before it was connected: {}", e.getMessage());
            connection.end("the client hung up before it was connected");
        }
        return true;
    }

    private void tick() {
        long now = System.nanoTime();
        silent.values().removeIf(guest -> {
            boolean late = now - guest.since() >= HELLO_NANOS;
            if (late) {
                drop(guest);
            }
            return late;
        });
        if (!stopping && socket.hasLostPath() && lock.isAtPath()) {
            UnixSocket lost = socket;
            socket = UnixSocket.listen(place.socket(), BACKLOG);
            lost.close();
            socket.watch(events, DOOR);
            LOG.warn("the socket of channel {} was deleted; the server listens at a new one", channel);
        }
    }

    /** Stops listening; returns once no client finds this server any more. Connections live on. */
    @Override
    public void close() {
        stopping = true;
        if (thread.getState() == Thread.State.NEW) {
            events.close();
        } else {
            awaitThread();
        }
        socket.close();
        lock.close();
        RuntimeDirectory.forgetAtExit(place);
        directory.removeIfEmpty();
    }

    private void awaitThread() {
        events.wakeUp();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
