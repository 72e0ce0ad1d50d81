package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.runtime.ServerInstance;
import dev.rackcall.rpc.shm.server.ConnectionFactory;
import dev.rackcall.rpc.shm.server.ConnectionPlan;
import dev.rackcall.rpc.shm.server.Handlers;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.OwnerLock;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.nio.file.Files;
import java.util.List;
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

    /** How long a starting server may take to notice that it has to give way. */
    private static final long RIVAL_BOUND_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final long LOCK_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final OwnerLock lock;
    private final ServerInstance place;
    /** Replaced by the accepting thread only. */
    private volatile UnixSocket socket;

    private final ConnectionFactory factory;

    private ChannelSocket(ServerInstance place, OwnerLock lock, UnixSocket socket, ConnectionFactory factory) {
        this.place = place;
        this.lock = lock;
        this.socket = socket;
        this.factory = factory;
    }

    /**
     * Begins to listen.
     *
     * @param id of the server among those of the directory
     * @throws RpcException ALREADY_EXISTS if the channel has a living server, and that one or this one is exclusive,
     *     FAILED_PRECONDITION or RESOURCE_EXHAUSTED if this host does not permit one
     */
    static ChannelSocket open(
            RuntimeDirectory directory, String id, ServerSpec spec, ServerSpec.Service<?> service, Handlers handlers) {
        String channel = service.channel();
        RuntimeDirectory.checkName(channel);
        ServerInstance place = directory.instance(channel, id);
        OwnerLock lock = acquire(directory, place, spec.place().isExclusive());
        ConnectionFactory factory = null;
        try {
            requireRivalsAllowed(directory, place, spec.place().isExclusive());
            ConnectionPlan.checkHost(channel, spec.place().hugePages());
            factory = new ConnectionFactory(spec, service, handlers);
            UnixSocket socket = UnixSocket.listen(place.socket(), BACKLOG);
            directory.cleanAtExit(place);
            return new ChannelSocket(place, lock, socket, factory);
        } catch (RuntimeException | Error e) {
            if (factory != null) {
                factory.close();
            }
            lock.close();
            throw whyNotOpened(directory, channel, e);
        }
    }

    private static RuntimeException whyNotOpened(RuntimeDirectory directory, String channel, Throwable cause) {
        return switch (cause) {
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
     * Takes the server's lock. A process that cleans up may hold it for a moment, because it took the new file for a
     * dead server's, and may remove the directory.
     */
    private static OwnerLock acquire(RuntimeDirectory directory, ServerInstance place, boolean exclusive) {
        long end = System.nanoTime() + LOCK_BOUND_NANOS;
        while (true) {
            boolean last = System.nanoTime() - end >= 0;
            try {
                Optional<OwnerLock> lock =
                        OwnerLock.tryAcquire(place.lock(), exclusive ? ServerInstance.EXCLUSIVE : "");
                if (lock.isPresent()) {
                    return lock.get();
                }
                if (last) {
                    throw Status.Code.UNAVAILABLE
                            .with(
                                    "channel %s: the lock file %s is held by %s; start the server again",
                                    place.channel(), place.lock(), place.owner())
                            .asException();
                }
            } catch (OsException e) {
                if (last || e.errno() != Errno.ENOENT) {
                    throw cannotListen(directory, place.channel(), e);
                }
                directory.create();
            }
            LockSupport.parkNanos(LOCK_POLL_NANOS);
        }
    }

    /**
     * Fails if an exclusive server would share the channel. Each server writes its lock file before it looks for
     * others, and listens afterwards, so at least one of two that start at the same time sees the other. It then gives
     * way ({@link #givesWay}), or waits until the other does.
     */
    private static void requireRivalsAllowed(RuntimeDirectory directory, ServerInstance place, boolean exclusive) {
        long begun = System.nanoTime();
        while (true) {
            List<ServerInstance> rivals = directory.instances(place.channel()).stream()
                    .filter(each -> !each.id().equals(place.id()))
                    .filter(each -> exclusive || each.isExclusive())
                    .filter(ServerInstance::isAlive)
                    .toList();
            if (rivals.isEmpty()) {
                return;
            }
            Optional<ServerInstance> stronger = rivals.stream()
                    .filter(rival -> givesWay(place, exclusive, rival))
                    .findFirst();
            // A process that removes a dead server's files also holds its lock, for a moment.
            long bound = stronger.isPresent() ? LOCK_BOUND_NANOS / 2 : RIVAL_BOUND_NANOS;
            if (System.nanoTime() - begun >= bound) {
                ServerInstance rival = stronger.orElseGet(rivals::getFirst);
                throw Status.Code.ALREADY_EXISTS
                        .with(
                                "channel %s already has a living server in %s (%s), and %s is exclusive; stop it, or serve"
                                        + " another channel",
                                place.channel(),
                                directory.path(),
                                rival.owner(),
                                rival.isExclusive() ? "that one" : "this one")
                        .asException();
            }
            LockSupport.parkNanos(LOCK_POLL_NANOS);
        }
    }

    /**
     * Whether the other server may stay: it already listens, or it is exclusive and this one is not or has a higher id.
     */
    private static boolean givesWay(ServerInstance place, boolean exclusive, ServerInstance rival) {
        return Files.exists(rival.socket())
                || (rival.isExclusive() && (!exclusive || rival.id().compareTo(place.id()) < 0));
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
        socket = UnixSocket.listen(place.socket(), BACKLOG);
        lost.close();
        LOG.warn("the socket of channel {} was deleted; the server listens at a new one", channel());
        return true;
    }

    /** Stops listening. The factory is closed once its connections have ended. */
    void shut() {
        socket.close();
        lock.close();
        RuntimeDirectory.forgetAtExit(place);
    }
}
