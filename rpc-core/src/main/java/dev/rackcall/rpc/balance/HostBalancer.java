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
import dev.rackcall.rpc.spi.LogLimit;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.pool.Pool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
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
    private static final LogLimit LOG_LIMIT = new LogLimit();
    private static final Subchannel[] NONE = {};
    /** How long a background thread waits for a server that does not answer. */
    private static final Duration CONNECT_BOUND = Duration.ofSeconds(5);
    /** The least time for one of several servers. */
    private static final Duration LEAST_BOUND = Duration.ofMillis(100);
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
    /** Servers that have refused this client for good. */
    private final Set<String> refusing = new HashSet<>();
    /** Connections that get no calls any more, and are closed once they have none in flight. */
    private final Set<HostSubchannel> leaving = new LinkedHashSet<>();

    /** One for each interface for which the channel has stubs. */
    private final List<ServiceDefinition<?>> used = new ArrayList<>();

    private boolean hasFailed;
    private long retryAt;

    private volatile Subchannel[] live = NONE;
    private volatile Subchannel[] open = NONE;
    private volatile boolean closed;
    /** Whether the channel has another balancer now. */
    private volatile boolean retired;

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
        try {
            lookAtOnce();
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    // ---- connections

    /**
     * Adds a connection. If its server has a usable one already, the new one is closed: the other one has calls.
     *
     * @return false if the balancer is closed, or if the channel's stubs cannot call that server's version; the caller
     *     keeps the connection then
     */
    public boolean adopt(HostServers.Reached reached) {
        HostSubchannel subchannel = new HostSubchannel(reached);
        boolean isSpare;
        synchronized (this) {
            if (closed || retired) {
                return false;
            }
            HostSubchannel present = connected.get(reached.server().id());
            isSpare = present != null && present.isUsable();
            if (!isSpare) {
                if (!isSuitable(subchannel)) {
                    return false;
                }
                connected.put(reached.server().id(), subchannel);
                if (present != null) {
                    // Its server drains, or its end was not noticed yet.
                    leaving.add(present);
                }
                publish();
            }
        }
        if (isSpare) {
            reached.connection().close();
            return true;
        }
        // Another thread, because the reactor must not wait for the lock: schemas are compared under it.
        reached.connection().onUnusable(() -> Thread.startVirtualThread(this::noticeEnd));
        closeLeft();
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
        open = (retired ? leaving : connected.values()).toArray(NONE);
        live = retired ? NONE : Arrays.stream(open).filter(Subchannel::isUsable).toArray(Subchannel[]::new);
    }

    /** Closes connections that get no calls any more, except those with calls in flight. */
    private void closeLeft() {
        List<Subchannel> over = new ArrayList<>();
        synchronized (this) {
            leaving.removeIf(each -> (closed || isIdle(each)) && over.add(each));
            publish();
        }
        over.forEach(each -> each.connection().close());
    }

    private static boolean isIdle(Subchannel subchannel) {
        return subchannel.connection().hasEnded() || subchannel.connection().callsUnderWay() == 0;
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
            if (!ended.isEmpty()) {
                lookSoon(0);
            }
        }
        closeLeft();
        ended.forEach(each -> each.connection().close());
        onChange.run();
    }

    /** Makes a tick after that time look for servers, even if the directory has not changed since. */
    private synchronized void lookSoon(long nanos) {
        hasFailed = true;
        retryAt = System.nanoTime() + nanos;
    }

    /** Called by the timer. */
    private void look(boolean changed) {
        closeLeft();
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
            // The next call connects. The change that was reported must not be forgotten until then.
            lookSoon(0);
            return;
        }
        synchronized (this) {
            hasFailed = false;
        }
        List<ServerInstance> living = living();
        synchronized (this) {
            for (ServerInstance each : living) {
                boolean isKnown = connected.containsKey(each.id())
                        || tried.contains(each.id())
                        || unsuitable.contains(each.id())
                        || refusing.contains(each.id());
                if (!closed && !retired && !isKnown && connected.size() + tried.size() < MOST_SERVERS) {
                    begin(each);
                }
            }
        }
    }

    /** The living servers, in random order. What cannot be examined is left out, and is looked at again later. */
    private List<ServerInstance> living() {
        List<ServerInstance> living = new ArrayList<>();
        try {
            for (ServerInstance each : directory.instances(spec.channel())) {
                if (isAlive(each)) {
                    living.add(each);
                }
            }
        } catch (RpcException e) {
            unseen(directory.path(), e);
        }
        Collections.shuffle(living);
        return living;
    }

    private boolean isAlive(ServerInstance server) {
        try {
            if (server.isAlive()) {
                return true;
            }
            directory.clean(server);
        } catch (RuntimeException e) {
            unseen(server.socket(), e);
        }
        return false;
    }

    private void unseen(Path what, RuntimeException why) {
        lookSoon(RETRY_NANOS);
        if (LOG_LIMIT.allows()) {
            LOG.warn(
                    "channel {}: {} cannot be examined; it is looked at again{}",
                    spec.channel(),
                    what,
                    LOG_LIMIT.skipped(),
                    why);
        }
    }

    private void begin(ServerInstance server) {
        tried.add(server.id());
        try {
            Thread.ofPlatform().daemon().name("rackcall-connect").start(() -> connectBehind(server));
        } catch (RuntimeException | Error e) {
            tried.remove(server.id());
            lookSoon(RETRY_NANOS);
            throw e;
        }
    }

    private void connectBehind(ServerInstance server) {
        boolean adopted = false;
        try {
            adopted = connect(server, CONNECT_BOUND);
        } catch (RuntimeException e) {
            lookSoon(RETRY_NANOS);
            if (LOG_LIMIT.allows()) {
                LOG.warn(
                        "channel {}: connecting to {} failed{}",
                        spec.channel(),
                        server.socket(),
                        LOG_LIMIT.skipped(),
                        e);
            }
        } finally {
            synchronized (this) {
                tried.remove(server.id());
            }
        }
        if (adopted) {
            onChange.run();
        }
    }

    /** Connects to a server within the bound and the channel's connect time-out; returns whether it is connected now. */
    private boolean connect(ServerInstance server, Duration bound) {
        ClientConnection connection;
        try {
            boolean isShort = spec.connectTimeout().compareTo(bound) < 0;
            connection = HostServers.connect(isShort ? spec : spec.within(bound), server);
        } catch (RpcException e) {
            LOG.debug("channel {}: {} gets no calls yet", spec.channel(), server.socket(), e);
            refused(server, e.code());
            return false;
        }
        boolean adopted = false;
        try {
            adopted = adopt(new HostServers.Reached(server, connection));
        } finally {
            if (!adopted) {
                connection.close();
            }
        }
        return adopted;
    }

    private synchronized void refused(ServerInstance server, Status.Code code) {
        if (code == Status.Code.FAILED_PRECONDITION || code == Status.Code.PERMISSION_DENIED) {
            refusing.add(server.id());
        } else {
            lookSoon(RETRY_NANOS);
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
                            "channel %s: its servers were replaced by others of another version; the next call goes to them, or says"
                                    + " why it cannot",
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

    /**
     * Leaves servers of versions that the service's stubs cannot call. If that is true of all that are connected, the
     * others are asked first.
     */
    @Override
    public void use(ServiceDefinition<?> definition) {
        Set<String> asked = new HashSet<>();
        long end = System.nanoTime() + spec.connectTimeout().toNanos();
        Optional<RpcException> failure = tryToUse(definition, asked);
        while (failure.isPresent()) {
            if (!connectToAnother(asked, end)) {
                throw failure.get();
            }
            failure = tryToUse(definition, asked);
        }
        closeLeft();
    }

    /**
     * Returns why none of the connected servers has a version that the service's stubs can call; empty if one has.
     *
     * @param asked gets the ids of those servers
     */
    private synchronized Optional<RpcException> tryToUse(ServiceDefinition<?> definition, Set<String> asked) {
        if (used.stream().anyMatch(known -> known.type() == definition.type())) {
            return Optional.empty();
        }
        Map<HostSubchannel, RpcException> failures = new LinkedHashMap<>();
        for (HostSubchannel each : connected.values()) {
            try {
                each.use(definition, spec.channel());
            } catch (RpcException e) {
                failures.put(each, e);
                asked.add(each.server.id());
            }
        }
        if (!failures.isEmpty() && failures.size() == connected.size()) {
            return Optional.of(failures.values().iterator().next());
        }
        used.add(definition);
        failures.forEach(this::refuse);
        leaving.addAll(failures.keySet());
        connected.values().removeAll(failures.keySet());
        publish();
        return Optional.empty();
    }

    /**
     * Connects to a living server that was not asked yet, without the lock.
     *
     * @return false if there is none
     */
    private boolean connectToAnother(Set<String> asked, long end) {
        for (ServerInstance each : living()) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            if (isCandidate(each) && asked.add(each.id())) {
                Duration bound = Duration.ofNanos(Math.min(left, CONNECT_BOUND.toNanos()));
                if (connect(each, bound.compareTo(LEAST_BOUND) < 0 ? LEAST_BOUND : bound)) {
                    return true;
                }
            }
        }
        return false;
    }

    private synchronized boolean isCandidate(ServerInstance server) {
        return !unsuitable.contains(server.id()) && !refusing.contains(server.id());
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

    /** The ids of the servers that the channel's stubs cannot call. */
    public synchronized Set<String> unsuitable() {
        return Set.copyOf(unsuitable);
    }

    /**
     * Gives way to the channel's next balancer: no calls begin here any more. Those in flight go on until their servers
     * end them; {@link #close} ends them at once.
     */
    public void retire() {
        synchronized (this) {
            retired = true;
            leaving.addAll(connected.values());
            connected.clear();
        }
        watch.close();
        closeLeft();
    }

    /** Whether it is retired and has no connections any more. */
    public synchronized boolean isOver() {
        return retired && leaving.isEmpty();
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            leaving.addAll(connected.values());
            connected.clear();
        }
        watch.close();
        closeLeft();
    }
}
