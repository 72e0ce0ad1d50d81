package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.runtime.ServerInstance;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds the servers of a channel in this host's runtime directory, and connects to them. */
public final class HostServers {
    private static final Logger LOG = LoggerFactory.getLogger(HostServers.class);
    private static final long LISTEN_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    /** Minimum time limit for connecting to one of several servers. */
    private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private HostServers() {}

    /** A new connection and its server. */
    public record Reached(ServerInstance server, ClientConnection connection) {}

    /**
     * Connects to one of the channel's servers, in random order until one answers. Waits for a server that is starting.
     *
     * @throws RpcException NOT_FOUND if no server has the channel, CANCELLED if the thread is interrupted while it waits,
     *     else as {@link Transports#connect}
     */
    public static Reached connectAny(ClientSpec spec) {
        return connectAny(spec, Set.of());
    }

    /**
     * As {@link #connectAny(ClientSpec)}.
     *
     * @param last ids of servers to try after all others
     */
    public static Reached connectAny(ClientSpec spec, Set<String> last) {
        RuntimeDirectory directory = RuntimeDirectory.at(spec.directory());
        long end = System.nanoTime() + spec.connectTimeout().toNanos();
        while (true) {
            Attempts attempts = new Attempts(directory, spec, last, end);
            Optional<Reached> reached = attempts.run();
            if (reached.isPresent()) {
                return reached.get();
            }
            if (!attempts.isAnyStarting() || System.nanoTime() - end >= 0) {
                throw attempts.failure();
            }
            // An interrupted thread cannot park, so this loop would spin until the deadline.
            Transports.requireNotInterrupted(spec);
            LockSupport.parkNanos(LISTEN_POLL_NANOS);
        }
    }

    /**
     * Connects to the given server.
     *
     * @throws RpcException UNAVAILABLE if it does not answer, else as {@link Transports#connect}
     */
    public static ClientConnection connect(ClientSpec spec, ServerInstance server) {
        try {
            return Transports.connect(spec, server);
        } catch (OsException e) {
            throw notReached(spec, server, e);
        }
    }

    /** As {@link #connect(ClientSpec, ServerInstance)}, by the id in the channel's runtime directory. */
    public static ClientConnection connect(ClientSpec spec, String id) {
        return connect(spec, RuntimeDirectory.at(spec.directory()).instance(spec.channel(), id));
    }

    private static RpcException notReached(ClientSpec spec, ServerInstance server, OsException why) {
        if (why.errno() == Errno.EACCES) {
            return Status.Code.PERMISSION_DENIED
                    .with(
                            "channel %s: %s is closed to uid %d; run as the server's user, or start a server of your own and set"
                                    + " RACKCALL_DIR to its directory",
                            spec.channel(), server.socket(), Uid.current())
                    .asException(why);
        }
        if (why.errno() == Errno.ENOENT && server.isAlive()) {
            return Status.Code.UNAVAILABLE
                    .with(
                            "channel %s: its server (%s) lives, but its socket %s is missing; if it does not listen again within"
                                    + " a second, restart it",
                            spec.channel(), server.owner(), server.socket())
                    .asException(why);
        }
        return Status.Code.UNAVAILABLE
                .with("channel %s: its server cannot be reached: %s", spec.channel(), why.getMessage())
                .asException(why);
    }

    /** One attempt to connect to each of the channel's servers. */
    private static final class Attempts {
        private final RuntimeDirectory directory;
        private final ClientSpec spec;
        private final long end;
        private final List<ServerInstance> servers;
        private Optional<RpcException> refusal = Optional.empty();
        private Optional<RpcException> starting = Optional.empty();

        Attempts(RuntimeDirectory directory, ClientSpec spec, Set<String> last, long end) {
            this.directory = directory;
            this.spec = spec;
            this.end = end;
            this.servers = new ArrayList<>(directory.instances(spec.channel()));
            // Spreads the channels of many clients over the servers.
            Collections.shuffle(servers);
            servers.sort(Comparator.comparing(server -> last.contains(server.id())));
        }

        Optional<Reached> run() {
            for (int i = 0; i < servers.size(); i++) {
                ServerInstance server = servers.get(i);
                try {
                    return Optional.of(new Reached(server, Transports.connect(share(servers.size() - i), server)));
                } catch (OsException e) {
                    failed(server, e);
                } catch (RpcException e) {
                    if (e.code() == Status.Code.CANCELLED) {
                        throw e;
                    }
                    refusal = Optional.of(e);
                }
            }
            return Optional.empty();
        }

        /** A stopped server must not use up the time of the others. */
        private ClientSpec share(int left) {
            return left == 1 && servers.size() == 1
                    ? spec
                    : spec.within(Duration.ofNanos(Math.max(LEAST_NANOS, (end - System.nanoTime()) / left)));
        }

        private void failed(ServerInstance server, OsException why) {
            boolean silent = why.errno() == Errno.ENOENT || why.errno() == Errno.ECONNREFUSED;
            if (silent && isAlive(server)) {
                starting = Optional.of(notReached(spec, server, why));
            } else if (!silent || (!clean(server) && Files.exists(server.socket()))) {
                refusal = Optional.of(notReached(spec, server, why));
            }
        }

        /** A file that cannot be removed must not keep the channel from other servers. */
        private boolean clean(ServerInstance server) {
            try {
                return directory.clean(server);
            } catch (RpcException | OsException e) {
                LOG.debug("cannot remove what the server at {} left behind", server.socket(), e);
                return false;
            }
        }

        private static boolean isAlive(ServerInstance server) {
            try {
                return server.isAlive();
            } catch (OsException e) {
                return false;
            }
        }

        /**
         * Whether a live server is not listening, because it is starting or ending, and no server has refused
         * permanently.
         */
        boolean isAnyStarting() {
            return starting.isPresent()
                    && refusal.filter(e -> e.code() != Status.Code.UNAVAILABLE).isEmpty();
        }

        RpcException failure() {
            return refusal.or(() -> starting).orElseGet(this::notServed);
        }

        private RpcException notServed() {
            return Status.Code.NOT_FOUND
                    .with(
                            "no server has channel %s in %s; start it, or set RACKCALL_DIR to the server's directory (there now: %s)",
                            spec.channel(), spec.directory(), directory.channels())
                    .asException();
        }
    }
}
