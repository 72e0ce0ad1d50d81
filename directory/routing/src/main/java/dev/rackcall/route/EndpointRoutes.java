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

/** One endpoint of a channel: tries its ways, best first, and keeps the line of the first that works. */
final class EndpointRoutes {
    /** The rank of an endpoint that cannot be reached at all. */
    static final int UNREACHABLE = Integer.MAX_VALUE;

    /** A server that is stopped lets whoever connects wait; after this the next one is tried beside it. */
    private static final long HOLD_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** What the last way has, however long those before it have taken. */
    private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ChannelRoutes routes;
    private final List<EndpointRoute> ways;
    private final long connectNanos;
    private volatile Endpoint endpoint;
    private volatile Optional<Subchannel> line = Optional.empty();

    // What follows is the routes': they change it under their lock.

    /** Whether somebody tries its ways now. */
    boolean busy;

    /** Since when. */
    long busySince;
    /** Whether its ways are to be looked at. */
    boolean due = true;
    /** Whether all of its ways were looked at once, which is when it is known how near it really is. */
    boolean tried;
    /** Whether ways are to be tried that have failed just now. */
    boolean urgent;
    /** Whether the directory still names it. */
    boolean named = true;

    /** Why it is given up as soon as nobody tries its ways any more; empty if it is not. */
    private String givenUp = "";

    EndpointRoutes(ChannelRoutes routes, Endpoint endpoint, ClientSpec channel, ChannelPool pool) {
        this.routes = routes;
        this.endpoint = endpoint;
        this.ways = EndpointRoute.to(endpoint, channel, pool);
        this.connectNanos = channel.connectTimeout().toNanos();
    }

    /** The line that calls may take, if it still lives. */
    Optional<Subchannel> line() {
        return line.filter(present -> present.isUsable() && !present.way().isOutdated());
    }

    /** Whether an announcement leads where this one does, however busy it is. */
    boolean isAt(Endpoint other) {
        return endpoint.withLoad(0).equals(other.withLoad(0));
    }

    /** Tells its line how busy its server is, unless that is no longer known. */
    void weigh(boolean known) {
        line.ifPresent(present -> present.load(known ? endpoint.load() : 0));
    }

    void update(Endpoint same) {
        endpoint = same;
    }

    /** Whether farther endpoints wait for it: until its ways were looked at, or it has let others wait for long enough. */
    boolean mayYetAnswer() {
        return !tried && !(busy && System.nanoTime() - busySince > HOLD_UP_NANOS);
    }

    /** How near it would be by the best way that may be tried. */
    int hope() {
        return ways.stream()
                .filter(way -> way.obstacle().isEmpty())
                .mapToInt(way -> rank(way.kind()))
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
     * Looks at the ways, best first, until one works. By one thread at a time; blocks as long as peers let it wait, the channel's connect timeout at most, of which the
     * ways behind it have their share, too.
     */
    void advance(boolean mayConnect, boolean urgently) {
        long end = System.nanoTime() + connectNanos;
        Optional<EndpointRoute> chosen = Optional.empty();
        for (int i = 0; i < ways.size(); i++) {
            EndpointRoute way = ways.get(i);
            if (chosen.isPresent()) {
                standBy(way, NetworkRoutes.whyNotNeeded(way.kind(), chosen.get().kind()));
            } else if (!isImpossible(way)
                    && (isConnected(way) || connects(i, end, mayConnect, urgently && !way.isShunned()))) {
                chosen = Optional.of(way);
                line = way.line();
            }
        }
        if (chosen.isEmpty() && urgently) {
            chosen = shunned(end, mayConnect);
        }
        line = chosen.flatMap(EndpointRoute::line);
    }

    /** A way that soon ends is better than none, while a call waits for it. */
    private Optional<EndpointRoute> shunned(long end, boolean mayConnect) {
        for (int i = 0; i < ways.size(); i++) {
            EndpointRoute way = ways.get(i);
            if (way.isShunned() && !isImpossible(way) && connects(i, end, mayConnect, true)) {
                return Optional.of(way);
            }
        }
        return Optional.empty();
    }

    private boolean isImpossible(EndpointRoute way) {
        Optional<String> obstacle = way.obstacle();
        obstacle.ifPresent(why -> {
            retire(way, why, Subchannel.Left.MEMORY_GONE);
            way.impossible(why);
        });
        return obstacle.isPresent();
    }

    private void standBy(EndpointRoute way, String why) {
        if (!isImpossible(way)) {
            retire(way, why, Subchannel.Left.FOR_A_BETTER_ONE);
            way.notNeeded(why);
        }
    }

    /** Has the way give up its line, if it has one; returns that. */
    private Optional<Subchannel> retire(EndpointRoute way, String why, Subchannel.Left how) {
        Optional<Subchannel> left = way.line();
        // Not later: calls would take it while the ways behind it are tried.
        if (left.isPresent() && line.equals(left)) {
            line = Optional.empty();
        }
        left.ifPresent(_ -> routes.retire(way, why, how));
        return left;
    }

    private boolean isConnected(EndpointRoute way) {
        if (way.isOutdated()) {
            retire(way, EndpointRoute.LEFT_POOL, Subchannel.Left.MEMORY_GONE);
            return false;
        }
        if (way.isConnected()) {
            return true;
        }
        retire(way, "its connection has ended", Subchannel.Left.ENDED)
                .ifPresent(ended -> way.lost(ended.connection().endCause()));
        return false;
    }

    private boolean connects(int index, long end, boolean mayConnect, boolean urgently) {
        EndpointRoute way = ways.get(index);
        if (!mayConnect || !(urgently || way.isDue())) {
            return false;
        }
        long others = ways.stream()
                .skip(index + 1L)
                .filter(other -> other.obstacle().isEmpty())
                .count();
        long left = Math.max(0, end - System.nanoTime());
        return way.connect(routes, Duration.ofNanos(Math.max(left / (1 + others), LEAST_NANOS)));
    }

    /** Under the routes' lock: whoever has tried its ways has ended. */
    void wasTried() {
        busy = false;
        tried = true;
        if (!givenUp.isEmpty()) {
            stepBack(givenUp);
        }
    }

    /** Under the routes' lock: nobody wants it any more. Its lines are left, as soon as nobody changes them. */
    void giveUp(String why) {
        if (busy) {
            line = Optional.empty();
            givenUp = why;
        } else {
            stepBack(why);
        }
    }

    /** Gives up its line, since others are nearer. */
    void stepBack(String why) {
        line = Optional.empty();
        ways.forEach(way -> standBy(way, why));
    }

    /** Why its ways have failed. */
    Stream<RpcException> failures() {
        return ways.stream().flatMap(way -> way.failure().stream());
    }

    List<Route> describe() {
        return ways.stream().map(EndpointRoute::describe).toList();
    }

    /** For a message: each way and what is wrong with it. */
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
