package dev.rackcall.route;

import dev.rackcall.directory.Endpoint;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.RpcException;
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

    /** A server that is stopped lets whoever connects wait; after this the next one is tried beside it. */
    private static final long HOLD_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** What the last route has, however long those before it have taken. */
    private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ChannelRoutes channelRoutes;
    private final List<EndpointRoute> routes;
    private final long connectNanos;
    private volatile Endpoint endpoint;
    private volatile Optional<Subchannel> subchannel = Optional.empty();

    // What follows is the routes': they change it under their lock.

    /** Whether somebody tries its routes now. */
    boolean busy;

    /** Since when. */
    long busySince;
    /** Whether its routes are to be looked at. */
    boolean due = true;
    /** Whether all of its routes were looked at once, which is when it is known how near it really is. */
    boolean tried;
    /** Whether routes are to be tried that have failed just now. */
    boolean urgent;
    /** Whether the directory still names it. */
    boolean named = true;

    /** Why it is given up as soon as nobody tries its routes any more; empty if it is not. */
    private String givenUp = "";

    EndpointRoutes(ChannelRoutes channelRoutes, Endpoint endpoint, ClientSpec channel, ChannelPool pool) {
        this.channelRoutes = channelRoutes;
        this.endpoint = endpoint;
        this.routes = EndpointRoute.to(endpoint, channel, pool);
        this.connectNanos = channel.connectTimeout().toNanos();
    }

    /** The subchannel that calls may take, if it still lives. */
    Optional<Subchannel> subchannel() {
        return subchannel.filter(
                present -> present.isUsable() && !present.route().isOutdated());
    }

    /** Whether an announcement leads where this one does, however busy it is. */
    boolean isAt(Endpoint other) {
        return endpoint.withLoad(0).equals(other.withLoad(0));
    }

    /** Tells its subchannel how busy its server is, unless that is no longer known. */
    void weigh(boolean known) {
        subchannel.ifPresent(present -> present.load(known ? endpoint.load() : 0));
    }

    void update(Endpoint same) {
        endpoint = same;
    }

    /** Whether farther endpoints wait for it: until its routes were looked at, or it has let others wait for long enough. */
    boolean mayYetAnswer() {
        return !tried && !(busy && System.nanoTime() - busySince > HOLD_UP_NANOS);
    }

    /** How near it would be by the best route that may be tried. */
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
     * Looks at the routes, best first, until one works. By one thread at a time; blocks as long as peers let it wait, the channel's connect timeout at most, of which the
     * routes behind it have their share, too.
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

    /** A route that soon ends is better than none, while a call waits for it. */
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
            retire(route, why, Subchannel.Left.MEMORY_GONE);
            route.impossible(why);
        });
        return obstacle.isPresent();
    }

    private void standBy(EndpointRoute route, String why) {
        if (!isImpossible(route)) {
            retire(route, why, Subchannel.Left.FOR_A_BETTER_ONE);
            route.notNeeded(why);
        }
    }

    /** Has the route give up its subchannel, if it has one; returns that. */
    private Optional<Subchannel> retire(EndpointRoute route, String why, Subchannel.Left how) {
        Optional<Subchannel> left = route.subchannel();
        // Not later: calls would take it while the routes behind it are tried.
        if (left.isPresent() && subchannel.equals(left)) {
            subchannel = Optional.empty();
        }
        left.ifPresent(_ -> channelRoutes.retire(route, why, how));
        return left;
    }

    private boolean isConnected(EndpointRoute route) {
        if (route.isOutdated()) {
            retire(route, EndpointRoute.LEFT_POOL, Subchannel.Left.MEMORY_GONE);
            return false;
        }
        if (route.isConnected()) {
            return true;
        }
        retire(route, "its connection has ended", Subchannel.Left.ENDED)
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

    /** Under the routes' lock: whoever has tried its routes has ended. */
    void wasTried() {
        busy = false;
        tried = true;
        if (!givenUp.isEmpty()) {
            stepBack(givenUp);
        }
    }

    /** Under the routes' lock: nobody wants it any more. Its subchannels are left, as soon as nobody changes them. */
    void giveUp(String why) {
        if (busy) {
            subchannel = Optional.empty();
            givenUp = why;
        } else {
            stepBack(why);
        }
    }

    /** Gives up its subchannel, since others are nearer. */
    void stepBack(String why) {
        subchannel = Optional.empty();
        routes.forEach(route -> standBy(route, why));
    }

    /** Why its routes have failed. */
    Stream<RpcException> failures() {
        return routes.stream().flatMap(route -> route.failure().stream());
    }

    List<Route> describe() {
        return routes.stream().map(EndpointRoute::describe).toList();
    }

    /** For a message: each route and what is wrong with it. */
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
