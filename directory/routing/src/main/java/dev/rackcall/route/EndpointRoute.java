package dev.rackcall.route;

import dev.rackcall.directory.Endpoint;
import dev.rackcall.directory.MemoryClaim;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.Route.State;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.balance.Subchannel;
import dev.rackcall.rpc.shm.HostServers;
import dev.rackcall.rpc.shm.Transports;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.shm.pool.Pool;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * One route to one endpoint: determines its obstacles, connects, and records the result. One thread at a time changes
 * it; other threads read its volatile fields.
 */
final class EndpointRoute {
    private static final long FIRST_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LAST_RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** How long a search for devices stays valid: it is expensive, and devices rarely change. */
    private static final long DEVICES_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** A connection that ends sooner counts as a failed attempt. */
    private static final long PROVEN_NANOS = TimeUnit.SECONDS.toNanos(1);
    /**
     * The first delay after a connection that ended for lack of a resource, which the next connection would lack, too.
     * Calls use other routes during the delay.
     */
    private static final long FIRST_WANT_NANOS = LAST_RETRY_NANOS;

    private static final long LAST_WANT_NANOS = TimeUnit.MINUTES.toNanos(5);
    /** Arenas of a connection: one for requests, one for replies. */
    private static final int ARENAS = 2;

    /** Why calls no longer use a pool that the channel has left. */
    static final String LEFT_POOL = "this channel has left that pool";

    private final Endpoint endpoint;
    private final Kind kind;
    private final Optional<URI> address;
    /** The provider of the transport. Empty for memory, and if its module is missing. */
    private final Optional<CarrierProvider> carrier;

    private final ClientSpec channel;
    private final ChannelPool pool;

    private volatile Optional<RouteSubchannel> subchannel = Optional.empty();
    private volatile State state = State.NOT_NEEDED;
    private volatile String reason = "it was not tried yet";
    private volatile Optional<RpcException> failure = Optional.empty();
    private volatile DeviceCheck devices = new DeviceCheck(System.nanoTime() - 2 * DEVICES_NANOS, Optional.empty());
    /** The pool of its subchannel. */
    private volatile Optional<Pool> connectedBy = Optional.empty();

    private long connectedAt;
    /** The pool of a connection attempt in progress. */
    private volatile Optional<Pool> attempt = Optional.empty();

    private volatile long retryAt = System.nanoTime();
    private long retryNanos = FIRST_RETRY_NANOS;
    private long wantNanos = FIRST_WANT_NANOS;
    private boolean wanting;

    private EndpointRoute(Endpoint endpoint, Kind kind, Optional<URI> address, ClientSpec channel, ChannelPool pool) {
        this.endpoint = endpoint;
        this.kind = kind;
        this.address = address;
        this.carrier = address.flatMap(CarrierProvider::of);
        this.channel = channel;
        this.pool = pool;
    }

    /** All routes to an endpoint, best first; at least one of each kind. */
    static List<EndpointRoute> to(Endpoint endpoint, ClientSpec channel, ChannelPool pool) {
        List<EndpointRoute> routes = new ArrayList<>();
        routes.add(new EndpointRoute(endpoint, Kind.PROCESS, Optional.empty(), channel, pool));
        routes.add(new EndpointRoute(endpoint, Kind.HOST, Optional.empty(), channel, pool));
        routes.add(new EndpointRoute(endpoint, Kind.POOL, Optional.empty(), channel, pool));
        // Virtual queues first: they open a connection faster than a queue pair of its own is made. Each call takes
        // longer over them, on the software device 2 to 3 times as long (docs/directory.md).
        for (Kind kind : List.of(Kind.RDMA_QUEUES, Kind.RDMA, Kind.TCP_QUEUES, Kind.TCP)) {
            List<URI> addresses = NetworkRoutes.addresses(endpoint, kind);
            if (addresses.isEmpty()) {
                routes.add(new EndpointRoute(endpoint, kind, Optional.empty(), channel, pool));
            }
            addresses.forEach(each -> routes.add(new EndpointRoute(endpoint, kind, Optional.of(each), channel, pool)));
        }
        return List.copyOf(routes);
    }

    Kind kind() {
        return kind;
    }

    /** The server's host, as the directory names it. */
    String host() {
        return endpoint.host();
    }

    Optional<RouteSubchannel> subchannel() {
        return subchannel;
    }

    Optional<RpcException> failure() {
        return failure;
    }

    /** What one of the ends lacks; empty if the route can be tried. Makes only local checks, which do not wait. */
    Optional<String> obstacle() {
        return switch (kind) {
            case PROCESS ->
                Announcer.ownFolder(endpoint.id()).isPresent()
                        ? Optional.empty()
                        : Optional.of("its server runs in another process");
            case HOST -> hostObstacle();
            case POOL -> poolObstacle();
            case RDMA_QUEUES, RDMA, TCP_QUEUES, TCP -> remoteObstacle();
        };
    }

    private Optional<String> hostObstacle() {
        Optional<String> theirs = announced(MemoryNames.HOST);
        if (theirs.isEmpty()) {
            return Optional.of("its server serves no memory of its host");
        }
        Optional<String> mine = MemoryNames.host(channel.directory());
        if (mine.isEmpty()) {
            return Optional.of("this process has no runtime folder " + channel.directory());
        }
        return mine.equals(theirs)
                ? Optional.empty()
                : Optional.of("its server leaves its sockets on another host, or in another runtime folder than "
                        + channel.directory());
    }

    private Optional<String> poolObstacle() {
        Optional<String> theirs = announced(MemoryNames.POOL);
        if (theirs.isEmpty()) {
            return Optional.of("its server serves no pool");
        }
        return pool.obstacle(theirs.get());
    }

    private Optional<String> announced(String prefix) {
        return endpoint.pools().stream().filter(pool -> pool.startsWith(prefix)).findFirst();
    }

    private Optional<String> remoteObstacle() {
        if (address.isEmpty()) {
            return Optional.of(NetworkRoutes.notAnnounced(endpoint, kind));
        }
        if (carrier.isEmpty()) {
            return Optional.of(NetworkRoutes.withoutProvider(kind));
        }
        Optional<String> lacking = carrier.get().obstacle(address.get());
        if (lacking.isPresent()) {
            return lacking;
        }
        DeviceCheck last = devices;
        if (System.nanoTime() - last.at() > DEVICES_NANOS) {
            last = new DeviceCheck(System.nanoTime(), NetworkRoutes.unlike(kind, carrier.get(), address.get()));
            devices = last;
        }
        return last.missing();
    }

    /** A missing device, at the time of the last search. */
    private record DeviceCheck(long at, Optional<String> missing) {}

    boolean isConnected() {
        return subchannel.filter(EndpointRoute::takesCalls).isPresent();
    }

    private static boolean takesCalls(RouteSubchannel present) {
        return present.isUsable() && !present.isRejected();
    }

    /** Whether its subchannel cannot take the calls of all stubs. */
    boolean isRejected() {
        return subchannel.filter(RouteSubchannel::isRejected).isPresent();
    }

    /** Whether its subchannel uses a pool that the channel has left. */
    boolean isOutdated() {
        return kind == Kind.POOL && !connectedBy.equals(pool.current());
    }

    boolean isDue() {
        return System.nanoTime() - retryAt >= 0;
    }

    /** Marks the route as impossible. */
    void impossible(String why) {
        state = State.IMPOSSIBLE;
        reason = why;
        failure = Optional.empty();
    }

    void notNeeded(String why) {
        if (state != State.FAILED) {
            state = State.NOT_NEEDED;
            reason = why;
        }
    }

    /** Removes the subchannel, if there is one, for the caller to leave. Called with the routes' lock held. */
    Optional<RouteSubchannel> detach() {
        Optional<RouteSubchannel> last = subchannel;
        subchannel = Optional.empty();
        return last;
    }

    /**
     * Called when the subchannel has ended by itself.
     *
     * @param cause the reason, if known
     */
    void lost(Optional<Status> cause) {
        failed(Status.Code.UNAVAILABLE
                .with(
                        "its connection has ended%s",
                        cause.map(why -> ": " + why.description()).orElse(""))
                .asException());
        long now = System.nanoTime();
        long lasted = now - connectedAt;
        wanting = cause.filter(why -> why.code() == Status.Code.RESOURCE_EXHAUSTED)
                .isPresent();
        if (wanting) {
            // A new connection would succeed, and end again with the next call that needs the resource.
            wantNanos = lasted > LAST_WANT_NANOS ? FIRST_WANT_NANOS : wantNanos;
            retryAt = now + wantNanos;
            wantNanos = Math.min(2 * wantNanos, LAST_WANT_NANOS);
        } else if (lasted > PROVEN_NANOS) {
            retryNanos = FIRST_RETRY_NANOS;
            retryAt = now;
        }
    }

    /** Whether other routes are preferred for a while, because its connections soon end for lack of a resource. */
    boolean isShunned() {
        return wanting && !isDue();
    }

    /** Tries to connect, for at most this time. */
    boolean connect(ChannelRoutes channelRoutes, Duration atMost) {
        if (state != State.FAILED) {
            reason = "it is being tried, and its server has not answered yet";
            state = State.TRYING;
        }
        wanting = false;
        Optional<MemoryClaim> memory = Optional.empty();
        try {
            Optional<Pool> by = pool.current();
            attempt = by;
            // Checked again: a thread that has changed the pool may have checked for attempts before this one was
            // visible.
            if (kind == Kind.POOL && !by.equals(pool.current())) {
                throw leftPool();
            }
            ClientSpec spec = spec(by).within(atMost);
            if (kind.isMemory()) {
                memory = channelRoutes.claim(ARENAS * spec.arenaQuota());
            }
            ClientConnection connection = open(spec);
            RouteSubchannel fresh = new RouteSubchannel(this, connection, memory);
            channelRoutes.adopt(fresh);
            connectedAt = System.nanoTime();
            connectedBy = by;
            subchannel = Optional.of(fresh);
            state = State.USED;
            reason = "the best route that works";
            failure = Optional.empty();
            return true;
        } catch (RpcException e) {
            RouteSubchannel.giveBack(memory);
            failed(e);
            return false;
        } catch (RuntimeException e) {
            RouteSubchannel.giveBack(memory);
            failed(Status.Code.UNAVAILABLE.with("connecting failed: %s", e).asException(e));
            return false;
        } finally {
            // Cleared after the subchannel is set: describe reads the attempt first.
            attempt = Optional.empty();
        }
    }

    private ClientConnection open(ClientSpec spec) {
        if (!kind.isMemory()) {
            return Transports.connect(spec);
        }
        // Other servers of the same channel may be in the same runtime folder or pool.
        Optional<String> server =
                announced(MemoryNames.SERVER).map(name -> name.substring(MemoryNames.SERVER.length()));
        if (kind == Kind.POOL) {
            return Transports.connectInPool(spec, server);
        }
        return server.isPresent() ? HostServers.connect(spec, server.get()) : Transports.connect(spec);
    }

    private static RpcException leftPool() {
        return Status.Code.UNAVAILABLE
                .with("this channel has just left its pool")
                .asException();
    }

    private void failed(RpcException e) {
        state = State.FAILED;
        reason = e.status().description();
        failure = Optional.of(e);
        retryAt = System.nanoTime() + retryNanos;
        retryNanos = Math.min(2 * retryNanos, LAST_RETRY_NANOS);
    }

    private ClientSpec spec(Optional<Pool> by) {
        return switch (kind) {
            case PROCESS ->
                channel.at(new ClientSpec.Place(
                        Announcer.ownFolder(endpoint.id()).orElse(channel.directory()),
                        Optional.empty(),
                        Optional.empty()));
            case HOST -> channel.at(new ClientSpec.Place(channel.directory(), Optional.empty(), Optional.empty()));
            case POOL -> {
                if (by.isEmpty()) {
                    // Without a pool the route would use the host's memory.
                    throw leftPool();
                }
                yield channel.at(new ClientSpec.Place(channel.directory(), by, Optional.empty()));
            }
            case RDMA_QUEUES, RDMA, TCP_QUEUES, TCP ->
                channel.at(new ClientSpec.Place(channel.directory(), Optional.empty(), address));
        };
    }

    /**
     * Describes this route. Called with the routes' lock held.
     *
     * @param live the subchannels that calls may use: a route that is connected is not yet one of them
     */
    Route describe(Subchannel[] live) {
        // Read before the subchannel: connect sets the subchannel, then the state, and then clears the attempt.
        State now = state;
        boolean isTriedByFormer = kind == Kind.POOL && attempt.isPresent() && !attempt.equals(pool.current());
        Optional<RouteSubchannel> present = subchannel;
        int calls = present.map(RouteSubchannel::calls).orElse(0);
        if (isTriedByFormer || (present.isPresent() && isOutdated())) {
            // A thread that has changed the pool checks for this state at once; another may still be trying the routes.
            return describe(State.LEAVING, LEFT_POOL, calls);
        }
        if (now != State.USED) {
            return describe(now, reason, calls);
        }
        if (present.filter(EndpointRoute::takesCalls).isEmpty()) {
            return describe(
                    State.LEAVING,
                    "its connection drains or has ended, or calls have just moved to another route",
                    calls);
        }
        RouteSubchannel connected = present.get();
        if (Arrays.stream(live).noneMatch(each -> each == connected)) {
            // Published when the thread that tries the endpoint's routes is done.
            return describe(State.TRYING, "it is connected, but calls do not use it yet", calls);
        }
        return connected.isEjected()
                ? describe(State.EJECTED, connected.whyEjected(), calls)
                : describe(State.USED, reason, calls);
    }

    Route describe(State now, String why, int calls) {
        return new Route(endpoint.id(), endpoint.host(), kind, place(), now, why, calls);
    }

    private String place() {
        return switch (kind) {
            case PROCESS ->
                Announcer.ownFolder(endpoint.id()).map(Path::toString).orElse("");
            case HOST ->
                announced(MemoryNames.HOST).isPresent() ? channel.directory().toString() : "";
            case POOL -> announced(MemoryNames.POOL).orElse("");
            case RDMA_QUEUES, RDMA, TCP_QUEUES, TCP ->
                address.map(URI::toString).orElse("");
        };
    }

    @Override
    public String toString() {
        return endpoint.id() + " on " + endpoint.host() + " by " + kind;
    }
}
