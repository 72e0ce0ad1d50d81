package dev.rackcall.route;

import dev.rackcall.directory.Endpoint;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.balance.Subchannel;
import dev.rackcall.rpc.spi.ClientSpec;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** One endpoint of a channel: tries its routes, best first, and keeps the subchannel of the first that works. */
final class EndpointRoutes {
    /** The rank of an endpoint that cannot be reached at all. */
    static final int UNREACHABLE = Integer.MAX_VALUE;

    /** A stopped server keeps clients waiting; after this time the next server is tried, too. */
    private static final long HOLD_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** The least time for a route, even if the routes before it have used up the timeout. */
    private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ChannelRoutes channelRoutes;
    private final List<EndpointRoute> routes;
    private final long connectNanos;
    private volatile Endpoint endpoint;
    private volatile Optional<RouteSubchannel> subchannel = Optional.empty();

    // The following fields are guarded by the lock of the ChannelRoutes.

    /** Whether a thread is trying its routes. */
    boolean busy;

    /** When that thread began. */
    long busySince;
    /** Whether its routes must be tried. */
    boolean due = true;
    /** Whether all routes were tried once. Its distance is unknown before that. */
    boolean tried;
    /** Whether routes that have just failed must be tried. */
    boolean urgent;
    /** Whether the directory still names it. */
    boolean named = true;

    /** The reason to abandon it when the thread that tries its routes ends; empty if it is kept. */
    private String givenUp = "";

    EndpointRoutes(ChannelRoutes channelRoutes, Endpoint endpoint, ClientSpec channel, ChannelPool pool) {
        this.channelRoutes = channelRoutes;
        this.endpoint = endpoint;
        this.routes = EndpointRoute.to(endpoint, channel, pool);
        this.connectNanos = channel.connectTimeout().toNanos();
    }

    /** The subchannel that calls may use, if it is usable. */
    Optional<RouteSubchannel> subchannel() {
        return subchannel.filter(present ->
                present.isUsable() && !present.isRejected() && !present.route().isOutdated());
    }

    /** Whether an announcement has the same addresses, whatever its load. */
    boolean isAt(Endpoint other) {
        return endpoint.withLoad(0).equals(other.withLoad(0));
    }

    /** Passes its server's load to the subchannel, unless the load is unknown. */
    void weigh(boolean known) {
        subchannel.ifPresent(present -> present.load(known ? endpoint.load() : 0));
    }

    void update(Endpoint same) {
        endpoint = same;
    }

    /** Whether farther endpoints still wait for it: until its routes were tried, but only for a limited time. */
    boolean mayYetAnswer() {
        return !tried && !(busy && System.nanoTime() - busySince > HOLD_UP_NANOS);
    }

    /** The rank of its best route without an obstacle. */
    int hope() {
        return routes.stream()
                .filter(route -> route.obstacle().isEmpty())
                .mapToInt(route -> rank(route.kind()))
                .min()
                .orElse(UNREACHABLE);
    }

    static int rank(Kind kind) {
        return switch (kind) {
            case PROCESS -> 0;
            case HOST, POOL -> 1;
            case RDMA_QUEUES, RDMA -> 2;
            case TCP_QUEUES, TCP -> 3;
        };
    }

    /**
     * Tries the routes, best first, until one works. Called by one thread at a time. Blocks at most for the channel's
     * connect timeout, of which each route gets a share.
     */
    void advance(boolean mayConnect, boolean urgently) {
        long end = System.nanoTime() + connectNanos;
        Optional<EndpointRoute> chosen = Optional.empty();
        for (int i = 0; i < routes.size(); i++) {
            EndpointRoute route = routes.get(i);
            if (chosen.isPresent()) {
                standBy(
                        route,
                        NetworkRoutes.whyNotNeeded(route.kind(), chosen.get().kind()));
            } else if (!isImpossible(route)
                    && (isConnected(route) || connects(i, end, mayConnect, urgently && !route.isShunned()))) {
                chosen = Optional.of(route);
                subchannel = route.subchannel();
            }
        }
        if (chosen.isEmpty() && urgently) {
            chosen = shunned(end, mayConnect);
        }
        subchannel = chosen.flatMap(EndpointRoute::subchannel);
    }

    /** Connects a shunned route: while a call waits, a route that soon ends is better than none. */
    private Optional<EndpointRoute> shunned(long end, boolean mayConnect) {
        for (int i = 0; i < routes.size(); i++) {
            EndpointRoute route = routes.get(i);
            if (route.isShunned() && !isImpossible(route) && connects(i, end, mayConnect, true)) {
                return Optional.of(route);
            }
        }
        return Optional.empty();
    }

    private boolean isImpossible(EndpointRoute route) {
        Optional<String> obstacle = route.obstacle();
        obstacle.ifPresent(why -> {
            // A server of this process that has withdrawn its entry drains, and its memory stays until it has ended.
            boolean drains = route.kind() == Route.Kind.PROCESS;
            retire(route, why, drains ? RouteSubchannel.Left.ENDED : RouteSubchannel.Left.MEMORY_GONE);
            route.impossible(why);
        });
        return obstacle.isPresent();
    }

    private void standBy(EndpointRoute route, String why) {
        if (!isImpossible(route)) {
            retire(route, why, RouteSubchannel.Left.FOR_A_BETTER_ONE);
            route.notNeeded(why);
        }
    }

    /** Removes the route's subchannel, if there is one, and returns it. */
    private Optional<RouteSubchannel> retire(EndpointRoute route, String why, RouteSubchannel.Left how) {
        Optional<RouteSubchannel> left = route.subchannel();
        // Cleared before the next routes are tried, so that calls do not use the retired subchannel.
        if (left.isPresent() && subchannel.equals(left)) {
            subchannel = Optional.empty();
        }
        left.ifPresent(_ -> channelRoutes.retire(route, why, how));
        return left;
    }

    private boolean isConnected(EndpointRoute route) {
        if (route.isOutdated()) {
            retire(route, EndpointRoute.LEFT_POOL, RouteSubchannel.Left.MEMORY_GONE);
            return false;
        }
        if (route.isConnected()) {
            return true;
        }
        String why =
                route.isRejected() ? "its server cannot serve all stubs of the channel" : "its connection has ended";
        retire(route, why, RouteSubchannel.Left.ENDED)
                .ifPresent(ended -> route.lost(ended.connection().endCause()));
        return false;
    }

    private boolean connects(int index, long end, boolean mayConnect, boolean urgently) {
        EndpointRoute route = routes.get(index);
        if (!mayConnect || !(urgently || route.isDue())) {
            return false;
        }
        long others = routes.stream()
                .skip(index + 1L)
                .filter(other -> other.obstacle().isEmpty())
                .count();
        long left = Math.max(0, end - System.nanoTime());
        return route.connect(channelRoutes, Duration.ofNanos(Math.max(left / (1 + others), LEAST_NANOS)));
    }

    /** Called when its routes were tried, with the routes' lock held. */
    void wasTried() {
        busy = false;
        tried = true;
        if (!givenUp.isEmpty()) {
            stepBack(givenUp);
        }
    }

    /**
     * Abandons the endpoint. Its subchannels are left as soon as no thread tries its routes. Called with the routes'
     * lock held.
     */
    void giveUp(String why) {
        if (busy) {
            subchannel = Optional.empty();
            givenUp = why;
        } else {
            stepBack(why);
        }
    }

    /** Leaves its subchannel for this reason. */
    void stepBack(String why) {
        subchannel = Optional.empty();
        routes.forEach(route -> standBy(route, why));
    }

    /** The failures of its routes. */
    Stream<RpcException> failures() {
        return routes.stream().flatMap(route -> route.failure().stream());
    }

    List<Route> describe() {
        Subchannel[] live = channelRoutes.subchannels();
        return routes.stream().map(route -> route.describe(live)).toList();
    }

    /** For a message: each route and its problem. */
    String complaint() {
        StringBuilder text = new StringBuilder(endpoint.id()).append(" on ").append(endpoint.host());
        String separator = ": ";
        for (Route route : describe()) {
            text.append(separator).append(route.kind()).append(": ").append(route.reason());
            separator = "; ";
        }
        return text.toString();
    }
}
