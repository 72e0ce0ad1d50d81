package dev.rackcall.rpc.balance;

import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.runtime.ServerInstance;
import dev.rackcall.rpc.shm.HostServers;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.pool.Pool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongConsumer;

/**
 * A connection to each server of a channel on this host. The channel makes the first connection, and another one when
 * all have ended; {@link ServerSearch} connects to the other servers. A server that drains gets no new calls; its
 * connection stays until the server ends it, so that calls in flight complete.
 */
public final class HostBalancer implements Balancer {
    private static final Subchannel[] NONE = {};

    private final ClientSpec spec;
    private final ServedInterface service;
    private final LongConsumer reconnection;
    private final ServerSearch search;

    // The following fields are guarded by this object's lock. No thread waits for a server while it holds the lock.

    /** One for each interface for which the channel has stubs; replaced as a whole. */
    private volatile List<ServiceDefinition<?>> used = List.of();
    /** By the servers' ids. All can serve what is {@link #used}. */
    private final Map<String, HostSubchannel> connected = new LinkedHashMap<>();
    /** Connections that get no calls any more, and are closed once they have none in flight and nothing is held there. */
    private final Set<HostSubchannel> leaving = new LinkedHashSet<>();

    /** The single one of {@link #live} if that is all of {@link #open}; else null. */
    private volatile Subchannel only;

    private volatile Subchannel[] live = NONE;
    private volatile Subchannel[] open = NONE;
    private volatile boolean closed;
    /** Whether the channel has another balancer now. */
    private volatile boolean retired;

    private volatile Runnable onChange = () -> {};

    /** A connection to one server. */
    private static final class HostSubchannel extends Subchannel {
        private final ServerInstance server;
        /** When it was left, a nanoTime. Guarded by the balancer's lock. */
        private long leftAt;

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
        this.search = new ServerSearch(spec, new Finds());
        adopt(first, connectDeadline());
        try {
            search.start();
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** What the search asks of this balancer, and does for it. */
    private final class Finds implements ServerSearch.Owner {
        @Override
        public boolean needsServers() {
            // Without any, the next call connects.
            return live.length > 0;
        }

        @Override
        public int connected() {
            return open.length;
        }

        @Override
        public boolean isConnected(String id) {
            synchronized (HostBalancer.this) {
                return connected.containsKey(id);
            }
        }

        @Override
        public boolean adopt(HostServers.Reached reached) {
            return HostBalancer.this.adopt(reached, connectDeadline());
        }

        @Override
        public void found() {
            onChange.run();
        }

        @Override
        public void tick() {
            closeLeft();
        }
    }

    // ---- connections

    private long connectDeadline() {
        return System.nanoTime() + spec.connectTimeout().toNanos();
    }

    /**
     * Adds a connection. If its server has a usable one already, the new one is closed: the other one has calls.
     *
     * @param deadline nanoTime until which the server may be asked for the stubs' services
     * @return false if the balancer is closed, or if the channel's stubs cannot call that server's version; the caller
     *     keeps the connection then
     */
    public boolean adopt(HostServers.Reached reached, long deadline) {
        HostSubchannel subchannel = new HostSubchannel(reached);
        while (!closed && !retired) {
            if (isSpare(subchannel)) {
                reached.connection().close();
                return true;
            }
            List<ServiceDefinition<?>> prepared = used;
            if (!isSuitable(subchannel, prepared, deadline)) {
                return false;
            }
            if (isAdded(subchannel, prepared)) {
                // Another thread, because closing connections would take the reactor's time.
                reached.connection()
                        .onUnusable(
                                () -> Thread.ofVirtual().name("rackcall-ended").start(this::noticeEnd));
                closeLeft();
                return true;
            }
        }
        return false;
    }

    private synchronized boolean isSpare(HostSubchannel subchannel) {
        HostSubchannel present = connected.get(subchannel.server.id());
        return present != null && present.isUsable();
    }

    /** Returns false if something has changed since the subchannel was prepared. */
    private synchronized boolean isAdded(HostSubchannel subchannel, List<ServiceDefinition<?>> prepared) {
        if (closed || retired || used != prepared || isSpare(subchannel)) {
            return false;
        }
        HostSubchannel present = connected.put(subchannel.server.id(), subchannel);
        if (present != null) {
            // Its server drains, or its end was not noticed yet.
            leave(present);
        }
        publish();
        return true;
    }

    private boolean isSuitable(HostSubchannel subchannel, List<ServiceDefinition<?>> definitions, long deadline) {
        try {
            definitions.forEach(definition -> subchannel.use(definition, spec.channel(), deadline));
            return true;
        } catch (RpcException e) {
            refuse(subchannel, e);
            return false;
        }
    }

    private void refuse(HostSubchannel subchannel, RpcException why) {
        search.unsuitable(subchannel.server, why);
    }

    private void leave(HostSubchannel subchannel) {
        subchannel.leftAt = System.nanoTime();
        leaving.add(subchannel);
    }

    private void publish() {
        open = (retired ? leaving : connected.values()).toArray(NONE);
        live = retired ? NONE : Arrays.stream(open).filter(Subchannel::isUsable).toArray(Subchannel[]::new);
        only = live.length == 1 && open.length == 1 ? live[0] : null;
    }

    /** Closes connections that get no calls any more, except those with calls in flight or objects that callers hold. */
    private void closeLeft() {
        List<Subchannel> over = new ArrayList<>();
        synchronized (this) {
            leaving.removeIf(each -> (closed || isIdle(each)) && over.add(each));
            publish();
        }
        if (isOver()) {
            search.close();
        }
        over.forEach(each -> each.connection().close());
    }

    private static boolean isIdle(HostSubchannel subchannel) {
        return subchannel.connection().hasEnded()
                || (subchannel.connection().callsUnderWay() == 0 && !subchannel.isHeld(subchannel.leftAt));
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
        }
        if (!ended.isEmpty()) {
            search.soon();
        }
        closeLeft();
        ended.forEach(each -> each.connection().close());
        onChange.run();
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
            throw closed ? spec.closedHere().asException() : replaced();
        }
        return present;
    }

    @Override
    public boolean awaitOther(List<Subchannel> lacking, long deadline) {
        if (search.isFound(() -> hasOther(lacking), deadline)) {
            return true;
        }
        if (closed) {
            throw spec.closedHere().asException();
        }
        if (retired) {
            throw replaced();
        }
        return false;
    }

    private RpcException replaced() {
        return Status.Code.UNAVAILABLE
                .with(
                        "channel %s: its servers were replaced by others of another version; the next call goes to them, or says"
                                + " why it cannot",
                        spec.channel())
                .asException();
    }

    @Override
    public Subchannel[] openSubchannels() {
        return open;
    }

    @Override
    public boolean release(Object result) {
        return Balancer.super.release(result) || isReleasedWhereLeft(result);
    }

    private boolean isReleasedWhereLeft(Object result) {
        List<HostSubchannel> left;
        synchronized (this) {
            left = List.copyOf(leaving);
        }
        return left.stream().anyMatch(each -> each.connection().release(result));
    }

    /** A single server's calls have nowhere else to go, and its connection ends by itself when it has drained. */
    @Override
    public Subchannel only(MethodDescriptor method) {
        return only;
    }

    @Override
    public boolean isUsable() {
        Subchannel single = only;
        if (single != null && single.isUsable()) {
            return true;
        }
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
    public void use(ServiceDefinition<?> definition, long deadline) {
        if (isUsed(definition)) {
            return;
        }
        Set<String> asked = new HashSet<>();
        Optional<RpcException> failure = tryToUse(definition, asked, deadline);
        while (failure.isPresent()) {
            if (!search.connectToAnother(asked, deadline)) {
                throw failure.get();
            }
            failure = tryToUse(definition, asked, deadline);
        }
        closeLeft();
    }

    private boolean isUsed(ServiceDefinition<?> definition) {
        return used.stream().anyMatch(known -> known.type() == definition.type());
    }

    /**
     * Returns why none of the connected servers has a version that the service's stubs can call; empty if one has.
     *
     * @param asked gets the ids of those servers
     */
    private Optional<RpcException> tryToUse(ServiceDefinition<?> definition, Set<String> asked, long deadline) {
        Map<HostSubchannel, RpcException> failures = new LinkedHashMap<>();
        List<HostSubchannel> present;
        do {
            present = present();
            List<HostSubchannel> others =
                    present.stream().filter(each -> !failures.containsKey(each)).toList();
            failures.putAll(Subchannel.useAll(others, definition, spec.channel(), deadline));
            failures.keySet().forEach(each -> asked.add(each.server.id()));
            if (!failures.isEmpty() && failures.keySet().containsAll(present)) {
                return Optional.of(failures.values().iterator().next());
            }
        } while (!isNoted(definition, present, failures.keySet()));
        failures.forEach(this::refuse);
        return Optional.empty();
    }

    /**
     * Leaves the servers that cannot serve the stubs, at once: other threads then make calls to the rest. Returns false
     * if a server was connected that was not asked.
     */
    private synchronized boolean isNoted(
            ServiceDefinition<?> definition, List<HostSubchannel> asked, Set<HostSubchannel> failed) {
        if (!asked.containsAll(connected.values())) {
            return false;
        }
        for (HostSubchannel each : failed) {
            // It may have ended in the meantime.
            if (connected.remove(each.server.id(), each)) {
                leave(each);
            }
        }
        publish();
        if (!isUsed(definition)) {
            List<ServiceDefinition<?>> more = new ArrayList<>(used);
            more.add(definition);
            used = List.copyOf(more);
        }
        return true;
    }

    private synchronized List<HostSubchannel> present() {
        return List.copyOf(connected.values());
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
    public Set<String> unsuitable() {
        return search.unsuitable();
    }

    /**
     * Gives way to the channel's next balancer: no calls begin here any more. Those in flight go on, and callers may keep
     * objects for {@linkplain Subchannel#isHeld as long as elsewhere}; {@link #close} ends both at once.
     */
    public void retire() {
        synchronized (this) {
            retired = true;
            connected.values().forEach(this::leave);
            connected.clear();
        }
        search.stop();
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
        search.close();
        closeLeft();
    }
}
