package dev.rackcall.rpc.balance;

import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.FolderWatch;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.runtime.ServerInstance;
import dev.rackcall.rpc.shm.HostServers;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.pool.Pool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection to each server of a channel on this host. The channel makes the first connection, and another one when
 * all have ended. Background threads find the other servers by their files in the runtime directory and connect to
 * them. A server that drains gets no new calls; its connection stays until the server ends it, so that calls in flight
 * complete.
 */
public final class HostBalancer implements Balancer {
    /** Maximum number of servers that one channel connects to; if there are more, it chooses at random. */
    static final int MOST_SERVERS = 16;

    private static final Logger LOG = LoggerFactory.getLogger(HostBalancer.class);
    private static final Subchannel[] NONE = {};
    /** How long a background thread waits for a server that does not answer. */
    private static final Duration CONNECT_BOUND = Duration.ofSeconds(5);
    /** Pause before servers that could not be reached are tried again. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final ClientSpec spec;
    private final ServedInterface service;
    private final LongConsumer reconnection;
    private final RuntimeDirectory directory;
    private final FolderWatch watch;

    // The following fields are guarded by this object's lock.

    /** By the servers' ids. */
    private final Map<String, HostSubchannel> connected = new LinkedHashMap<>();
    /** Servers that a background thread connects to. */
    private final Set<String> tried = new HashSet<>();
    /** Servers of versions that the channel's stubs cannot call. */
    private final Set<String> unsuitable = new HashSet<>();

    /** One for each interface for which the channel has stubs. */
    private final List<ServiceDefinition<?>> used = new ArrayList<>();

    private boolean hasFailed;
    private long retryAt;

    private volatile Subchannel[] live = NONE;
    private volatile Subchannel[] open = NONE;
    private volatile boolean closed;
    private volatile Runnable onChange = () -> {};

    /** A connection to one server. */
    private static final class HostSubchannel extends Subchannel {
        private final ServerInstance server;

        HostSubchannel(HostServers.Reached reached) {
            super(reached.connection());
            this.server = reached.server();
        }

        @Override
        public String toString() {
            return "the server at " + server.socket();
        }
    }

    /**
     * Begins with one connection.
     *
     * @param reconnection makes the channel connect again, until the given nanoTime; the new connection is {@linkplain
     *     #adopt adopted}. Throws if that is not possible
     */
    public HostBalancer(ClientSpec spec, HostServers.Reached first, LongConsumer reconnection) {
        this.spec = spec;
        this.service = first.connection().service();
        this.reconnection = reconnection;
        this.directory = RuntimeDirectory.at(spec.directory());
        adopt(first);
        this.watch = FolderWatch.start(directory.path(), this::look);
        lookAtOnce();
    }

    // ---- connections

    /**
     * Adds a connection.
     *
     * @return false if the balancer is closed, or if the channel's stubs cannot call that server's version; the caller
     *     keeps the connection then
     */
    public boolean adopt(HostServers.Reached reached) {
        HostSubchannel subchannel = new HostSubchannel(reached);
        synchronized (this) {
            if (closed || !isSuitable(subchannel)) {
                return false;
            }
            HostSubchannel former = connected.put(reached.server().id(), subchannel);
            if (former != null) {
                // The channel has connected again to a server that drains, or whose end was not noticed yet.
                former.connection().close();
            }
            publish();
        }
        reached.connection().onUnusable(this::noticeEnd);
        return true;
    }

    private boolean isSuitable(HostSubchannel subchannel) {
        try {
            used.forEach(definition -> subchannel.use(definition, spec.channel()));
            return true;
        } catch (RpcException e) {
            refuse(subchannel, e);
            return false;
        }
    }

    private void refuse(HostSubchannel subchannel, RpcException why) {
        if (unsuitable.add(subchannel.server.id())) {
            LOG.warn("{} gets no calls: {}", subchannel, why.getMessage());
        }
    }

    private void publish() {
        open = connected.values().toArray(NONE);
        live = Arrays.stream(open).filter(Subchannel::isUsable).toArray(Subchannel[]::new);
    }

    @Override
    public void onChange(Runnable listener) {
        onChange = listener;
    }

    /** Removes connections that have ended, and leaves those whose servers drain. */
    @Override
    public void noticeEnd() {
        List<Subchannel> ended = new ArrayList<>();
        synchronized (this) {
            connected.values().removeIf(each -> each.connection().hasEnded() && ended.add(each));
            publish();
        }
        ended.forEach(each -> each.connection().close());
        onChange.run();
    }

    /** Called by the timer. */
    private void look(boolean changed) {
        boolean due;
        synchronized (this) {
            due = changed || (hasFailed && System.nanoTime() - retryAt >= 0);
        }
        if (due) {
            lookAtOnce();
        }
    }

    private void lookAtOnce() {
        if (live.length == 0) {
            // The next call connects.
            return;
        }
        List<ServerInstance> living = new ArrayList<>();
        for (ServerInstance each : directory.instances(spec.channel())) {
            if (each.isAlive()) {
                living.add(each);
            } else {
                directory.clean(each);
            }
        }
        Collections.shuffle(living);
        synchronized (this) {
            hasFailed = false;
            for (ServerInstance each : living) {
                boolean isKnown =
                        connected.containsKey(each.id()) || tried.contains(each.id()) || unsuitable.contains(each.id());
                if (!closed && !isKnown && connected.size() + tried.size() < MOST_SERVERS) {
                    tried.add(each.id());
                    Thread.ofPlatform().daemon().name("rackcall-connect").start(() -> connect(each));
                }
            }
        }
    }

    private void connect(ServerInstance server) {
        boolean adopted = false;
        try {
            boolean isShort = spec.connectTimeout().compareTo(CONNECT_BOUND) < 0;
            ClientConnection connection = HostServers.connect(isShort ? spec : spec.within(CONNECT_BOUND), server);
            adopted = adopt(new HostServers.Reached(server, connection));
            if (!adopted) {
                connection.close();
            }
        } catch (RpcException e) {
            LOG.debug("channel {}: {} gets no calls yet", spec.channel(), server.socket(), e);
        } finally {
            synchronized (this) {
                tried.remove(server.id());
                if (!adopted) {
                    hasFailed = true;
                    retryAt = System.nanoTime() + RETRY_NANOS;
                }
            }
        }
        if (adopted) {
            onChange.run();
        }
    }

    // ---- calls

    @Override
    public Subchannel[] subchannels() {
        return live;
    }

    @Override
    public Subchannel[] subchannels(long deadline) {
        Subchannel[] present = live;
        return present.length > 0 ? present : await(deadline);
    }

    @Override
    public Subchannel[] await(long deadline) {
        noticeEnd();
        if (live.length == 0) {
            reconnection.accept(deadline);
        }
        Subchannel[] present = live;
        if (present.length == 0) {
            throw Status.Code.UNAVAILABLE
                    .with(
                            "channel %s: its servers were replaced by others of a version that this channel's stubs cannot call;"
                                    + " the next call says what differs",
                            spec.channel())
                    .asException();
        }
        return present;
    }

    @Override
    public Subchannel[] openSubchannels() {
        return open;
    }

    /** A single server's calls have nowhere else to go, and its connection ends by itself when it has drained. */
    @Override
    public boolean isPlain(MethodDescriptor method) {
        return true;
    }

    @Override
    public boolean isUsable() {
        for (Subchannel subchannel : live) {
            if (subchannel.isUsable()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    /** Closes the connections to servers of versions that the service's stubs cannot call. */
    @Override
    public void use(ServiceDefinition<?> definition) {
        List<Subchannel> refused = new ArrayList<>();
        synchronized (this) {
            if (used.stream().anyMatch(known -> known.type() == definition.type())) {
                return;
            }
            Map<HostSubchannel, RpcException> failures = new LinkedHashMap<>();
            for (HostSubchannel each : connected.values()) {
                try {
                    each.use(definition, spec.channel());
                } catch (RpcException e) {
                    failures.put(each, e);
                }
            }
            if (!failures.isEmpty() && failures.size() == connected.size()) {
                throw failures.values().iterator().next();
            }
            used.add(definition);
            failures.forEach(this::refuse);
            refused.addAll(failures.keySet());
            connected.values().removeAll(failures.keySet());
            publish();
        }
        refused.forEach(each -> each.connection().close());
    }

    // ---- for the channel

    @Override
    public ClientSpec spec() {
        return spec;
    }

    @Override
    public ServedInterface service() {
        return service;
    }

    @Override
    public synchronized List<Route> describe() {
        return connected.values().stream()
                .map(each -> new Route(
                        each.server.id(),
                        RuntimeDirectory.hostName(),
                        Route.Kind.HOST,
                        each.server.socket().toString(),
                        state(each),
                        each.isUsable() ? "it serves" : "it drains, or has ended",
                        each.connection().callsUnderWay()))
                .toList();
    }

    private static Route.State state(HostSubchannel subchannel) {
        if (!subchannel.isUsable()) {
            return Route.State.LEAVING;
        }
        return subchannel.isEjected() ? Route.State.EJECTED : Route.State.USED;
    }

    @Override
    public void changePool(Optional<Pool> pool) {
        throw Status.Code.FAILED_PRECONDITION
                .with(
                        "channel %s was opened without a directory: it uses this host's memory only; open it with a directory",
                        spec.channel())
                .asException();
    }

    @Override
    public void close() {
        Subchannel[] last;
        synchronized (this) {
            closed = true;
            last = open;
            connected.clear();
            publish();
        }
        watch.close();
        for (Subchannel subchannel : last) {
            subchannel.connection().close();
        }
    }
}
