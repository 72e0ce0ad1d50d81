package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.shm.server.ConnectionFactory;
import dev.rackcall.rpc.shm.server.ConnectionPlan;
import dev.rackcall.rpc.shm.server.Handlers;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.OwnerLock;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where clients of this host connect to one channel: the lock that proves a living server, the listening socket, and
 * the factory of its connections.
 */
final class ChannelSocket {
    private static final Logger LOG = LoggerFactory.getLogger(ChannelSocket.class);
    private static final int BACKLOG = 1024;

    /** How long a process that only cleans up may hold the lock. */
    private static final long LOCK_BOUND_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final long LOCK_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final OwnerLock lock;
    private final RuntimeDirectory directory;
    /** Replaced by the accepting thread only. */
    private volatile UnixSocket socket;

    private final ConnectionFactory factory;

    private ChannelSocket(RuntimeDirectory directory, OwnerLock lock, UnixSocket socket, ConnectionFactory factory) {
        this.directory = directory;
        this.lock = lock;
        this.socket = socket;
        this.factory = factory;
    }

    /**
     * Begins to listen.
     *
     * @throws RpcException ALREADY_EXISTS if the channel has a living server, FAILED_PRECONDITION or RESOURCE_EXHAUSTED
     *     if this host does not permit one
     */
    static ChannelSocket open(
            RuntimeDirectory directory, ServerSpec spec, ServerSpec.Service<?> service, Handlers handlers) {
        String channel = service.definition().channel();
        RuntimeDirectory.checkName(channel);
        OwnerLock lock = acquire(directory, channel);
        ConnectionFactory factory = null;
        try {
            Files.deleteIfExists(directory.socket(channel));
            ConnectionPlan.checkHost(channel, spec.place().hugePages());
            factory = new ConnectionFactory(spec, service, handlers);
            UnixSocket socket = UnixSocket.listen(directory.socket(channel), BACKLOG);
            return new ChannelSocket(directory, lock, socket, factory);
        } catch (IOException | RuntimeException | Error e) {
            if (factory != null) {
                factory.close();
            }
            lock.close();
            throw whyNotOpened(directory, channel, e);
        }
    }

    private static RuntimeException whyNotOpened(RuntimeDirectory directory, String channel, Throwable cause) {
        return switch (cause) {
            case IOException e -> cannotListen(directory, channel, e);
            case OsException e -> cannotListen(directory, channel, e);
            case OutOfArenaException e ->
                Status.Code.RESOURCE_EXHAUSTED
                        .with("channel %s: no memory for its shared arena: %s", channel, e.getMessage())
                        .asException(e);
            case RuntimeException e -> e;
            case Error e -> throw e;
            default -> throw new AssertionError(cause);
        };
    }

    private static RpcException cannotListen(RuntimeDirectory directory, String channel, Exception cause) {
        return Status.Code.FAILED_PRECONDITION
                .with("channel %s: cannot be served from %s: %s", channel, directory.path(), cause.getMessage())
                .asException(cause);
    }

    /**
     * Takes the channel's lock. A process that cleans up after a dead server holds it for a moment, and may remove the
     * directory.
     */
    private static OwnerLock acquire(RuntimeDirectory directory, String channel) {
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
                    throw cannotListen(directory, channel, e);
                }
                directory.create();
            }
            LockSupport.parkNanos(LOCK_POLL_NANOS);
        }
    }

    String channel() {
        return factory.channel();
    }

    UnixSocket socket() {
        return socket;
    }

    ConnectionFactory factory() {
        return factory;
    }

    /**
     * Listens again if another process has deleted the socket's path: no client could find the server any more. Leaves
     * a path whose lock is gone, too, to its next owner.
     *
     * @return whether {@link #socket} is another one now
     */
    boolean listenAgainIfLost() {
        if (!socket.hasLostPath() || !lock.isAtPath()) {
            return false;
        }
        UnixSocket lost = socket;
        socket = UnixSocket.listen(directory.socket(channel()), BACKLOG);
        lost.close();
        LOG.warn("the socket of channel {} was deleted; the server listens at a new one", channel());
        return true;
    }

    /** Stops listening; another server may take the channel. The factory is closed once its connections have ended. */
    void shut() {
        // Removes its own path only: if the folder was deleted, a successor may listen there by now.
        socket.close();
        lock.close();
    }
}
