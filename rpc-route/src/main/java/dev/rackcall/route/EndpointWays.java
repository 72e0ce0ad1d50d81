package dev.rackcall.route;

import dev.rackcall.directory.Endpoint;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.spi.ClientSpec;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** One endpoint of a channel: tries its ways, best first, and keeps the line of the first that works. */
final class EndpointWays {
    /** The rank of an endpoint that cannot be reached at all. */
    static final int UNREACHABLE = Integer.MAX_VALUE;

    /** A server that is stopped lets whoever connects wait; after this the next one is tried beside it. */
    private static final long HOLD_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final ChannelRoutes routes;
    private final List<Way> ways;
    private volatile Endpoint endpoint;
    private volatile Optional<Line> line = Optional.empty();

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

    EndpointWays(ChannelRoutes routes, Endpoint endpoint, ClientSpec channel) {
        this.routes = routes;
        this.endpoint = endpoint;
        this.ways = Way.to(endpoint, channel);
    }

    /** The line that calls may take, if it still lives. */
    Optional<Line> line() {
        return line.filter(Line::isUsable);
    }

    /** Whether an announcement leads where this one does, however busy it is. */
    boolean isAt(Endpoint other) {
        return endpoint.withLoad(0).equals(other.withLoad(0));
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
            case RDMA -> 2;
            case TCP -> 3;
        };
    }

    /** Looks at the ways, best first, until one works. By one thread at a time; blocks as long as peers let it wait. */
    void advance(boolean mayConnect, boolean urgently) {
        Optional<Way> chosen = Optional.empty();
        for (Way way : ways) {
            if (chosen.isPresent()) {
                standBy(way, "a better way works: " + chosen.get().kind());
            } else if (!isImpossible(way) && works(way, mayConnect, urgently)) {
                chosen = Optional.of(way);
                line = way.line();
            }
        }
        line = chosen.flatMap(Way::line);
    }

    private boolean isImpossible(Way way) {
        Optional<String> obstacle = way.obstacle();
        obstacle.ifPresent(why -> {
            way.detach().ifPresent(left -> retire(left, why, Line.Left.MEMORY_GONE));
            way.impossible(why);
        });
        return obstacle.isPresent();
    }

    private void standBy(Way way, String why) {
        if (!isImpossible(way)) {
            way.detach().ifPresent(left -> retire(left, why, Line.Left.FOR_A_BETTER_ONE));
            way.notNeeded(why);
        }
    }

    private void retire(Line left, String why, Line.Left how) {
        routes.retire(left, why, left.isUsable() ? how : Line.Left.ENDED);
    }

    private boolean works(Way way, boolean mayConnect, boolean urgently) {
        if (way.isConnected()) {
            return true;
        }
        if (way.line().isPresent()) {
            way.detach().ifPresent(ended -> retire(ended, "its connection has ended", Line.Left.ENDED));
            way.lost();
        }
        return mayConnect && (urgently || way.isDue()) && way.connect(routes);
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
        return ways.stream().map(Way::describe).toList();
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
