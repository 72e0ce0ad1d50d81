package dev.rackcall.sandbox;

import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the seals of other processes, which then cannot lift these seals themselves. It has the userfaultfd of their
 * memory and opens pages only after the receiver has marked the seals done. It runs in a separate process that both
 * sides trust. All processes belong to the same user.
 *
 * <p>A sealed process opens a {@link SealSession} and gives up all means to lift a seal. The receiver joins that
 * session by its number. Both get the ring of descriptors from the holder, so neither can forge it for the other.
 */
public final class SealHolder implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SealHolder.class);
    private static final int MAX_SESSIONS = 256;
    private static final int BACKLOG = 64;
    private static final Duration BOUND = Duration.ofSeconds(10);
    private static final long PAUSE_NANOS = 200_000_000;
    /** Checks the closed flag this often, in case a wake-up is lost. */
    private static final long ACCEPT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final SecureRandom NUMBERS = new SecureRandom();

    private final UnixSocket listener;
    private final EventPoll poll = EventPoll.create();
    private final Map<String, HolderSession> sessions = new ConcurrentHashMap<>();
    private final Set<UnixSocket> receivers = ConcurrentHashMap.newKeySet();
    private final SealedProcesses processes = new SealedProcesses();
    private final AtomicInteger connections = new AtomicInteger();
    private final Thread acceptor;
    private final AtomicBoolean ending = new AtomicBoolean();
    private volatile boolean closed;

    private SealHolder(Path path) {
        try {
            listener = UnixSocket.listen(path, BACKLOG);
            poll.add(listener.fd(), 0);
        } catch (RuntimeException e) {
            poll.close();
            throw e;
        }
        acceptor = Thread.ofPlatform().daemon().name("rackcall-seal-holder").start(this::accept);
    }

    /**
     * Starts a holder at a socket to which only this user may connect.
     *
     * @throws OsException if the path exists
     */
    public static SealHolder start(Path path) {
        return new SealHolder(path);
    }

    /** Runs a holder at a socket until the process ends. The only argument is the socket's path. */
    public static void main(String[] arguments) throws InterruptedException {
        if (arguments.length != 1) {
            throw new IllegalArgumentException("give the path of the socket to serve at");
        }
        SealHolder holder = start(Path.of(arguments[0]));
        Runtime.getRuntime().addShutdownHook(new Thread(holder::close));
        holder.awaitClosed();
    }

    /** Waits until this holder is closed. */
    public void awaitClosed() throws InterruptedException {
        acceptor.join();
    }

    private void accept() {
        while (!closed) {
            poll.await(ACCEPT_NANOS);
            try {
                for (Optional<UnixSocket> next = listener.accept(); next.isPresent(); next = listener.accept()) {
                    admit(next.get());
                }
            } catch (OsException | IllegalStateException e) {
                if (!closed) {
                    LOG.warn("accepting failed: {}", e.getMessage());
                    // A waiting client would make this a busy loop.
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            }
        }
    }

    private void admit(UnixSocket socket) {
        if (connections.incrementAndGet() > MAX_SESSIONS) {
            connections.decrementAndGet();
            try (socket) {
                socket.send(HolderMessage.refused("the holder has its maximum of " + MAX_SESSIONS
                        + " connections; close channels, or start another holder"));
            }
            return;
        }
        Thread.ofPlatform().daemon().name("rackcall-seal-session").start(() -> serve(socket));
    }

    private void serve(UnixSocket socket) {
        try (socket) {
            Message hello = socket.receive(BOUND).orElseThrow(() -> new IOException("the client sent no message"));
            try {
                dispatch(socket, hello);
            } catch (IOException | OsException | IllegalStateException e) {
                socket.send(HolderMessage.refused(String.valueOf(e.getMessage())));
                LOG.info("pid {} was refused: {}", socket.peer().pid(), e.getMessage());
            } catch (BufferUnderflowException e) {
                socket.send(HolderMessage.refused("the message is too short"));
            } finally {
                hello.closeFds();
            }
        } catch (IOException | OsException | IllegalStateException e) {
            LOG.info("a connection ended: {}", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            connections.decrementAndGet();
        }
    }

    private void dispatch(UnixSocket socket, Message hello) throws IOException, InterruptedException {
        if (hello.isEnd()) {
            return;
        }
        switch (hello.bytes()[0]) {
            case HolderMessage.SEALER -> serveSealed(socket, hello);
            case HolderMessage.RECEIVER -> serveReceiver(socket, hello);
            default -> throw new IOException("this is not a message for a holder of seals");
        }
    }

    private void serveSealed(UnixSocket socket, Message hello) throws IOException, InterruptedException {
        if (hello.fds().length != 2) {
            requireDescriptors(hello, 3);
        }
        byte[] number = new byte[HolderMessage.SESSION_BYTES];
        NUMBERS.nextBytes(number);
        String key = HexFormat.of().formatHex(number);
        SealedProcesses.Held held = processes.of(socket, hello);
        try (HolderSession session = new HolderSession(socket, hello, number, held)) {
            session.open(hello);
            session.welcome();
            session.check();
            // Its receiver may join now. If the receiver is refused, the process has given up nothing yet.
            sessions.put(key, session);
            session.fit();
            session.verify();
            processes.verified(socket, held);
            session.ready();
            try {
                session.serve();
            } finally {
                // Releasing the userfaultfd would open the pages.
                session.outlast();
            }
        } finally {
            sessions.remove(key);
        }
    }

    private void serveReceiver(UnixSocket socket, Message hello) throws IOException {
        requireDescriptors(hello, 2);
        ByteBuffer fields = HolderMessage.fields(hello);
        String key = HexFormat.of().formatHex(HolderMessage.session(fields));
        long offset = fields.getLong();
        HolderSession session = sessions.get(key);
        if (session == null) {
            throw new IOException("there is no session of that number");
        }
        receivers.add(socket);
        try (SharedFile arena = hello.adopt(1)) {
            join(session, socket, hello.adopt(0), arena, offset);
            try {
                socket.send(
                        HolderMessage.bare(HolderMessage.ACCEPTED),
                        session.answersFile().fd());
                awaitEnd(socket, () -> closed);
            } finally {
                session.receiverGone();
            }
        } finally {
            receivers.remove(socket);
        }
    }

    /** On success the session owns the marks. */
    private static void join(HolderSession session, UnixSocket socket, SharedFile marks, SharedFile arena, long offset)
            throws IOException {
        try {
            session.join(socket.peer().pid(), marks, arena, offset);
        } catch (IOException | RuntimeException e) {
            marks.close();
            throw e;
        }
    }

    /** Waits until the receiver hangs up; it sends nothing more. */
    static void awaitEnd(UnixSocket socket, BooleanSupplier closed) {
        while (!closed.getAsBoolean()) {
            Message message = socket.receive(BOUND).orElse(null);
            if (message != null) {
                message.closeFds();
                if (message.isEnd()) {
                    return;
                }
            }
        }
    }

    private static void requireDescriptors(Message message, int count) throws IOException {
        if (message.fds().length != count) {
            throw new IOException(message.fds().length + " descriptors came, not " + count);
        }
    }

    /** Ends the service: lifts all seals and refuses new ones. Idempotent. */
    @Override
    public void close() {
        if (!ending.compareAndSet(false, true)) {
            return;
        }
        closed = true;
        listener.close();
        // Receivers first: they must stop trusting their seals before the pages open.
        receivers.forEach(UnixSocket::close);
        sessions.values().forEach(HolderSession::hangUp);
        processes.close();
        poll.wakeUp();
        try {
            if (!acceptor.join(BOUND)) {
                LOG.warn(
                        "the acceptor thread of the holder of seals has not ended in {} s and is abandoned",
                        BOUND.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        poll.close();
    }
}
