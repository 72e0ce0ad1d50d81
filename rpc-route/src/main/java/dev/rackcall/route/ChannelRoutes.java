package dev.rackcall.route;

import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.ChannelView;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.State;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.Router;
import dev.rackcall.rpc.spi.ServiceDefinition;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lines of one channel: follows its endpoints in the directory, has their ways tried by threads of the background, nearest endpoints first, and publishes which lines
 * calls may take. A call reads one field of it; it waits here only while there is no line at all, for ways that are being tried and for news.
 */
final class ChannelRoutes implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ChannelRoutes.class);
    private static final long LOOK_MILLIS = 200;
    /** So long a call that has nowhere to go waits for the directory's news of another server. */
    private static final long NEWS_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final long NEWS_LOOK_MILLIS = 20;
    private static final String OTHERS_NEARER = "another server is nearer";
    private static final Line[] NONE = {};

    private final ClientSpec spec;
    private final SharedDirectory directory;
    private final ChannelView view;
    private final Future<?> ticks;

    /** Of the lines that are nearest. Stores are under this object's lock. */
    private volatile Line[] live = NONE;
    /** All that have not been closed, also those that were left. */
    private volatile Line[] open = NONE;

    private final Map<String, EndpointWays> endpoints = new TreeMap<>();
    private final List<Line> adopted = new ArrayList<>();
    private final List<Line> left = new ArrayList<>();
    private final List<ServiceDefinition<?>> used = new ArrayList<>();
    private Optional<ClientConnection> first = Optional.empty();
    private volatile boolean closed;

    private ChannelRoutes(ClientSpec spec, SharedDirectory directory) {
        this.spec = spec;
        this.directory = directory;
        this.view = directory.directory().follow(ChannelName.of(spec.channel()));
        this.ticks = Background.every(LOOK_MILLIS, this::look);
        // The directory's thread waits for nobody.
        view.listen(_ -> Background.run(this::look));
    }

    /** Returns once there is a line. */
    static ChannelRoutes open(ClientSpec spec, Router.Membership membership) {
        SharedDirectory directory = SharedDirectory.join(membership.directory());
        ChannelRoutes routes = null;
        try {
            if (directory.directory().endpoints(ChannelName.of(spec.channel())).isEmpty()) {
                throw notNamed(spec, directory);
            }
            routes = new ChannelRoutes(spec, directory);
            if (routes.view.await(spec.connectTimeout()).isEmpty()) {
                throw notNamed(spec, directory);
            }
            routes.await(System.nanoTime() + spec.connectTimeout().toNanos());
            return routes;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            giveUp(routes, directory);
            throw Status.Code.CANCELLED
                    .with("channel %s: interrupted while it was opened", spec.channel())
                    .asException(e);
        } catch (RuntimeException | Error e) {
            giveUp(routes, directory);
            throw e;
        }
    }

    private static void giveUp(ChannelRoutes routes, SharedDirectory directory) {
        if (routes != null) {
            routes.close();
        } else {
            directory.close();
        }
    }

    private static RpcException notNamed(ClientSpec spec, SharedDirectory directory) {
        return Status.Code.NOT_FOUND
                .with(
                        "the directory %s names no server of channel %s; start one with that directory (it names: %s)",
                        directory.address(),
                        spec.channel(),
                        directory.directory().channels())
                .asException();
    }

    // ---- for calls

    /** Those that calls may take; waits for one if there is none. */
    Line[] lines(long deadline) {
        Line[] present = live;
        return present.length > 0 ? present : await(deadline);
    }

    /** Those that calls may take now, perhaps none. */
    Line[] lines() {
        return live;
    }

    /** The line over which a server can follow the Ref of a shared object. */
    Optional<Line> lineOf(Object sharedObject) {
        for (Line line : open) {
            if (line.connection().maps(sharedObject)) {
                return Optional.of(line);
            }
        }
        return Optional.empty();
    }

    Line[] openLines() {
        return open;
    }

    boolean isClosed() {
        return closed;
    }

    ClientSpec spec() {
        return spec;
    }

    /** Somebody has found that a line is dead. */
    void noticeEnd() {
        Background.run(() -> {
            synchronized (this) {
                publish();
            }
            look();
        });
    }

    /** As {@link #lines(long)}, after those that have ended were put aside. */
    synchronized Line[] await(long deadline) {
        follow();
        publish();
        // What has failed just now is tried again: somebody waits for it.
        endpoints.values().forEach(each -> {
            each.due = true;
            each.urgent = true;
        });
        long begun = System.nanoTime();
        long end = begun + Math.min(deadline - begun, spec.connectTimeout().toNanos());
        pump();
        while (live.length == 0) {
            if (closed) {
                throw Status.Code.CANCELLED
                        .with("channel %s was closed here", spec.channel())
                        .asException();
            }
            long nanos = end - System.nanoTime();
            boolean hopeless = endpoints.values().stream().noneMatch(each -> each.busy || each.due)
                    && System.nanoTime() - begun > NEWS_NANOS;
            if (nanos <= 0 || hopeless) {
                throw unreachable();
            }
            try {
                // Rounded up, since to wait for 0 ms is to wait for ever.
                wait(Math.min(nanos / 1_000_000 + 1, NEWS_LOOK_MILLIS));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw Status.Code.CANCELLED
                        .with("channel %s: interrupted while it waited for a connection", spec.channel())
                        .asException(e);
            }
        }
        return live;
    }

    private RpcException unreachable() {
        if (endpoints.isEmpty()) {
            return Status.Code.UNAVAILABLE
                    .with(
                            "the directory %s names no server of channel %s any more; start one",
                            directory.address(), spec.channel())
                    .asException();
        }
        List<RpcException> failures =
                endpoints.values().stream().flatMap(EndpointWays::failures).toList();
        List<Status.Code> codes =
                failures.stream().map(RpcException::code).distinct().toList();
        boolean clear = codes.size() == 1 && codes.getFirst() != Status.Code.NOT_FOUND;
        Status status = (clear ? codes.getFirst() : Status.Code.UNAVAILABLE)
                .with(
                        "channel %s: no server can be reached%s. %s",
                        spec.channel(),
                        view.isCurrent() ? "" : " (and the directory cannot, so these may be old)",
                        endpoints.values().stream().map(EndpointWays::complaint).collect(Collectors.joining(". ")));
        return failures.isEmpty() ? status.asException() : status.asException(failures.getFirst());
    }

    // ---- for connections

    /** A fresh line: must serve what the others serve, and learns what the channel is used for. */
    synchronized void adopt(Line line) {
        ClientConnection connection = line.connection();
        if (closed) {
            connection.close();
            throw Status.Code.CANCELLED
                    .with("channel %s was closed here", spec.channel())
                    .asException();
        }
        if (first.isPresent() && first.get().fingerprint() != connection.fingerprint()) {
            connection.close();
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "it serves another interface (fingerprint %016x) than this channel was opened with (%016x); build"
                                    + " both from the same, and open the channel anew",
                            connection.fingerprint(), first.get().fingerprint())
                    .asException();
        }
        if (first.isEmpty()) {
            first = Optional.of(connection);
        }
        used.forEach(connection::use);
        adopted.add(line);
        open = adopted.toArray(NONE);
    }

    synchronized void use(ServiceDefinition<?> definition) {
        if (!used.contains(definition)) {
            used.add(definition);
            for (Line line : open) {
                line.connection().use(definition);
            }
        }
    }

    /** The first connection that was made, which may have ended: it tells what all of them serve. */
    synchronized ClientConnection first() {
        return first.orElseThrow();
    }

    /** A way has given up its line. */
    synchronized void retire(Line line, String why, Line.Left how) {
        line.leave(why, how);
        left.add(line);
        publish();
        LOG.info("channel {}: calls no longer go to {}: {}", spec.channel(), line, why);
    }

    // ---- the background

    /** Now and then, and when the directory has news. */
    private synchronized void look() {
        if (closed) {
            return;
        }
        follow();
        endpoints.values().forEach(each -> each.due = true);
        for (Line line : List.copyOf(left)) {
            if (line.isForsaken()) {
                left.remove(line);
                adopted.remove(line);
                // What was published last may have to be carried over first.
                Background.run(line.connection()::close);
            }
        }
        publish();
        pump();
    }

    /** What the directory says. An endpoint that it no longer names stays as long as its connection does: whoever runs still serves. */
    private void follow() {
        List<Endpoint> named = view.endpoints();
        endpoints.values().forEach(each -> each.named = false);
        for (Endpoint endpoint : named) {
            EndpointWays known = endpoints.get(endpoint.id());
            if (known == null || !known.isAt(endpoint)) {
                if (known != null) {
                    known.stepBack("its server is reached by other addresses now");
                }
                endpoints.put(endpoint.id(), new EndpointWays(this, endpoint, spec));
            } else {
                known.update(endpoint);
                known.named = true;
            }
        }
        for (EndpointWays each : List.copyOf(endpoints.values())) {
            if (!each.named && !each.busy && each.line().isEmpty()) {
                each.stepBack("the directory no longer names it");
                endpoints.values().remove(each);
            }
        }
    }

    /** Has ways tried: of endpoints that have a line, and of the nearest of the others until there is one. */
    private void pump() {
        int best = best();
        Map<EndpointWays, Integer> hopes =
                endpoints.values().stream().collect(Collectors.toMap(each -> each, EndpointWays::hope));
        for (EndpointWays each : endpoints.values()) {
            int hope = hopes.get(each);
            boolean nearerIsTried = hopes.entrySet().stream()
                    .anyMatch(other -> other.getValue() < hope && other.getKey().mayYetAnswer());
            boolean wanted = hope <= best && !nearerIsTried;
            if (each.due && !each.busy && (wanted || each.line().isPresent())) {
                begin(each);
            } else if (best < hope && !each.busy && each.line().isEmpty()) {
                each.stepBack(OTHERS_NEARER);
            }
        }
    }

    private void begin(EndpointWays endpoint) {
        boolean urgently = endpoint.urgent;
        boolean mayConnect = endpoint.named;
        endpoint.busy = true;
        endpoint.busySince = System.nanoTime();
        endpoint.due = false;
        endpoint.urgent = false;
        Background.run(() -> {
            try {
                endpoint.advance(mayConnect, urgently);
            } catch (RuntimeException e) {
                LOG.warn("channel {}: an endpoint's ways could not be tried", spec.channel(), e);
            } finally {
                synchronized (this) {
                    endpoint.busy = false;
                    endpoint.tried = true;
                    publish();
                    if (!closed) {
                        pump();
                    }
                    notifyAll();
                }
            }
        });
    }

    private int best() {
        return usable().mapToInt(Line::rank).min().orElse(EndpointWays.UNREACHABLE);
    }

    private Stream<Line> usable() {
        return endpoints.values().stream().flatMap(each -> each.line().stream());
    }

    /** Which lines calls may take from now on: the nearest. */
    private void publish() {
        int best = best();
        if (!closed) {
            for (EndpointWays each : endpoints.values()) {
                if (!each.busy && each.line().filter(line -> line.rank() > best).isPresent()) {
                    each.stepBack(OTHERS_NEARER);
                }
            }
        }
        live = closed ? NONE : usable().filter(line -> line.rank() == best).toArray(Line[]::new);
        open = adopted.toArray(NONE);
        notifyAll();
    }

    synchronized List<Route> describe() {
        List<Route> routes = new ArrayList<>();
        endpoints.values().stream()
                .sorted(Comparator.comparing(each -> each.line().map(Line::rank).orElse(EndpointWays.UNREACHABLE)))
                .forEach(each -> routes.addAll(each.describe()));
        left.forEach(line -> routes.add(line.way().describe(State.LEAVING, line.whyLeaving(), line.calls())));
        return List.copyOf(routes);
    }

    @Override
    public void close() {
        Line[] last;
        synchronized (this) {
            if (closed) {
                return;
            }
            last = open;
            closed = true;
            publish();
        }
        ticks.cancel(false);
        view.close();
        for (Line line : last) {
            line.connection().close();
        }
        directory.close();
    }
}
