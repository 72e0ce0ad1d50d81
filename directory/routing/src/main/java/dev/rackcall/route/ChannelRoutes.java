package dev.rackcall.route;

import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.ChannelView;
import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.MemoryClaim;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.balance.Balancer;
import dev.rackcall.rpc.balance.Subchannel;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.Router;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.pool.Pool;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The subchannels of one channel. Follows the channel's endpoints in the directory, tries their routes on background
 * threads, nearest first, and publishes the subchannels that calls may use. A call reads one field; it waits here only
 * while there is no subchannel.
 */
final class ChannelRoutes implements Balancer {
    private static final Logger LOG = LoggerFactory.getLogger(ChannelRoutes.class);
    private static final long LOOK_MILLIS = 200;
    /** How long a call without a subchannel waits for the directory to name another server. */
    private static final long NEWS_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final RouteSubchannel[] NONE = {};

    private final ClientSpec spec;
    private final ChannelPool pool;
    private final SharedDirectory directory;
    private final ChannelView view;
    /** Whether the directory bounded memory when the channel was opened. */
    private final boolean bounded;

    private final Future<?> ticks;

    private final Subchannels subchannels;
    private final ChannelEndpoints endpoints;
    /** The nearest subchannels. Written with this object's lock held. */
    private volatile RouteSubchannel[] live = NONE;

    /** Whether a check for ended subchannels is scheduled. */
    private final AtomicBoolean noticed = new AtomicBoolean();

    private volatile boolean closed;
    private volatile Runnable onChange = () -> {};

    private ChannelRoutes(ClientSpec spec, SharedDirectory directory) {
        this.spec = spec;
        this.pool = new ChannelPool(spec.pool());
        this.directory = directory;
        this.bounded = directory.directory().limits().memoryPerMember() < Long.MAX_VALUE;
        this.subchannels = new Subchannels();
        this.endpoints = new ChannelEndpoints(this, spec, pool);
        this.view = directory.directory().follow(ChannelName.of(spec.channel()));
        this.ticks = Background.every(LOOK_MILLIS, this::look);
        // The directory's thread must not block.
        view.listen(_ -> Background.run(this::look));
    }

    /** Returns once there is a subchannel. */
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

    @Override
    public Subchannel[] subchannels(long deadline) {
        Subchannel[] present = live;
        return present.length > 0 ? present : await(deadline);
    }

    @Override
    public Subchannel[] subchannels() {
        return live;
    }

    @Override
    public Subchannel[] openSubchannels() {
        return subchannels.open();
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public boolean isUsable() {
        return !closed;
    }

    /**
     * A RoutedCall counts streams, so that a subchannel that was left stays open while a stream is read slowly.
     */
    @Override
    public Subchannel only(MethodDescriptor method) {
        Subchannel[] present = live;
        boolean plain = !method.idempotent() && !method.kind().returnsStream();
        return plain && present.length == 1 && subchannels.open().length == 1 ? present[0] : null;
    }

    @Override
    public ClientSpec spec() {
        return spec;
    }

    @Override
    public void onChange(Runnable listener) {
        onChange = listener;
    }

    @Override
    public void noticeEnd() {
        if (!noticed.compareAndSet(false, true)) {
            // Many calls notice the end at once; one check is enough.
            return;
        }
        Background.run(() -> {
            // Cleared before the check, so that later notices schedule another one.
            noticed.set(false);
            synchronized (this) {
                publish();
            }
            look();
        });
    }

    @Override
    public synchronized Subchannel[] await(long deadline) {
        endpoints.follow(view.endpoints());
        // Routes that have just failed are retried, because a call waits.
        endpoints.want(true);
        publish();
        long begun = System.nanoTime();
        long end = begun + Math.min(deadline - begun, spec.connectTimeout().toNanos());
        endpoints.pump();
        while (live.length == 0) {
            if (closed) {
                throw spec.closedHere().asException();
            }
            long now = System.nanoTime();
            long news = begun + NEWS_NANOS - now;
            if (end - now <= 0 || (news <= 0 && !endpoints.areTried())) {
                throw unreachable();
            }
            try {
                // Until `publish` has news for it. Rounded up, because wait(0) has no time limit.
                wait((news > 0 ? Math.min(news, end - now) : end - now) / 1_000_000 + 1);
            } catch (InterruptedException e) {
                throw interrupted(e);
            }
        }
        return live;
    }

    /** Waits for endpoints that are as near as the connected ones and are tried for the first time. */
    @Override
    public synchronized boolean awaitOther(List<Subchannel> lacking, long deadline) {
        endpoints.follow(view.endpoints());
        endpoints.pump();
        while (!hasOther(lacking)) {
            if (closed) {
                throw spec.closedHere().asException();
            }
            if (!endpoints.areTriedFirst()) {
                return false;
            }
            long nanos = deadline - System.nanoTime();
            if (nanos <= 0) {
                throw Balancer.searchedTooLong(spec);
            }
            try {
                // A server that is tried in vain is no news for `await`, but may be the last one here.
                wait(Math.min(nanos / 1_000_000 + 1, LOOK_MILLIS));
            } catch (InterruptedException e) {
                throw interrupted(e);
            }
        }
        return true;
    }

    private RpcException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return Status.Code.CANCELLED
                .with("channel %s: interrupted while it waited for a connection", spec.channel())
                .asException(e);
    }

    private RpcException unreachable() {
        if (endpoints.isEmpty()) {
            return Status.Code.UNAVAILABLE
                    .with(
                            "the directory %s names no server of channel %s any more; start one",
                            directory.address(), spec.channel())
                    .asException();
        }
        List<RpcException> failures = endpoints.failures().toList();
        List<Status.Code> codes =
                failures.stream().map(RpcException::code).distinct().toList();
        boolean clear = codes.size() == 1 && codes.getFirst() != Status.Code.NOT_FOUND;
        Status status = (clear ? codes.getFirst() : Status.Code.UNAVAILABLE)
                .with(
                        "channel %s: no server can be reached%s. %s",
                        spec.channel(),
                        view.isCurrent() ? "" : " (and the directory cannot, so these may be old)",
                        endpoints.complaints());
        return failures.isEmpty() ? status.asException() : status.asException(failures.getFirst());
    }

    // ---- for connections

    /** Adds a new subchannel of a route. Its server must have a version that the stubs in use can call. */
    void adopt(RouteSubchannel subchannel) {
        long deadline = System.nanoTime() + spec.connectTimeout().toNanos();
        List<ServiceDefinition<?>> prepared;
        try {
            do {
                prepared = subchannels.used();
                // Waits for the server, and calls to others need the lock.
                prepared.forEach(definition -> subchannel.use(definition, spec.channel(), deadline));
            } while (!isAdopted(subchannel, prepared));
        } catch (RuntimeException | Error e) {
            Background.run(subchannel.connection()::close);
            throw e;
        }
        RouteEvents.changed(spec.channel(), subchannel.route());
    }

    private synchronized boolean isAdopted(RouteSubchannel subchannel, List<ServiceDefinition<?>> prepared) {
        if (closed) {
            throw spec.closedHere().asException();
        }
        return subchannels.isAdopted(subchannel, prepared);
    }

    /**
     * Counts the memory of a connection against this process's quota. Counts nothing if the directory sets no bound or
     * cannot be reached, because calls do not wait for a directory.
     *
     * @throws RpcException RESOURCE_EXHAUSTED if it exceeds the quota
     */
    Optional<MemoryClaim> claim(long bytes) {
        if (!bounded || !view.isCurrent()) {
            return Optional.empty();
        }
        try {
            return Optional.of(directory.directory().claimMemory(bytes));
        } catch (DirectoryException e) {
            if (e.reason() == DirectoryException.Reason.QUOTA_EXCEEDED) {
                throw Status.Code.RESOURCE_EXHAUSTED.with("%s", e.getMessage()).asException(e);
            }
            LOG.debug("channel {}: {} bytes are not counted: {}", spec.channel(), bytes, e.getMessage());
            return Optional.empty();
        }
    }

    /**
     * Leaves subchannels to servers whose version the service's stubs cannot call; their routes then fail and say so.
     * A server that cannot be asked now gets no calls until its route has reconnected. Calls in flight go on.
     */
    @Override
    public void use(ServiceDefinition<?> definition, long deadline) {
        if (subchannels.isUsed(definition)) {
            return;
        }
        Map<RouteSubchannel, RpcException> failures = new LinkedHashMap<>();
        List<RouteSubchannel> asked;
        do {
            asked = subchannels.callable();
            List<RouteSubchannel> others =
                    asked.stream().filter(each -> !failures.containsKey(each)).toList();
            // Waits for servers, and calls to others need the lock.
            failures.putAll(Subchannel.useAll(others, definition, spec.channel(), deadline));
            if (!failures.isEmpty() && failures.keySet().containsAll(asked)) {
                throw failures.values().iterator().next();
            }
        } while (!isNoted(definition, asked, failures.keySet()));
    }

    private synchronized boolean isNoted(
            ServiceDefinition<?> definition, List<RouteSubchannel> asked, Set<RouteSubchannel> failed) {
        if (!subchannels.isNoted(definition, asked)) {
            return false;
        }
        if (!failed.isEmpty()) {
            failed.forEach(RouteSubchannel::reject);
            publish();
            noticeEnd();
        }
        return true;
    }

    /** When this returns, subchannels over another pool get no new calls, and they are closed later. */
    @Override
    public synchronized void changePool(Optional<Pool> value) {
        if (value.isEmpty() && pool.current().isEmpty()) {
            return;
        }
        pool.change(value);
        // Otherwise a route that failed with the former pool would wait for its retry time.
        endpoints.want(true);
        look();
    }

    @Override
    public synchronized ServedInterface service() {
        return subchannels.first().service();
    }

    /**
     * Detaches a route's subchannel. Holds the lock, like {@link #describe}, so that a description always shows the
     * subchannel: either at its route or among those that were left.
     */
    synchronized void retire(EndpointRoute route, String why, RouteSubchannel.Left how) {
        route.detach().ifPresent(subchannel -> {
            subchannels.leave(subchannel, why, subchannel.isUsable() ? how : RouteSubchannel.Left.ENDED);
            publish();
            LOG.info("channel {}: calls no longer go to {}: {}", spec.channel(), subchannel, why);
        });
    }

    // ---- the background

    /** Runs periodically, and after each change in the directory. */
    private synchronized void look() {
        if (closed) {
            return;
        }
        endpoints.follow(view.endpoints());
        endpoints.want(false);
        subchannels.closeForsaken();
        publish();
        endpoints.pump();
    }

    /** Called when all routes of an endpoint were tried. */
    synchronized void tried(EndpointRoutes endpoint) {
        endpoint.wasTried();
        publish();
        if (!closed) {
            endpoints.pump();
        }
    }

    /** Publishes the nearest subchannels, for calls. */
    private void publish() {
        if (closed) {
            live = NONE;
        } else {
            endpoints.leaveFarther();
            live = endpoints.nearest(view.isCurrent());
        }
        // Waiting calls wake up only if they need not wait any more. Each attempt ends with a call of this method.
        if (live.length > 0 || closed || !endpoints.areTried()) {
            notifyAll();
        }
        onChange.run();
    }

    @Override
    public synchronized List<Route> describe() {
        return Stream.concat(endpoints.describe(), subchannels.describeLeft()).toList();
    }

    @Override
    public void close() {
        RouteSubchannel[] last;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            last = subchannels.open();
            publish();
        }
        ticks.cancel(false);
        view.close();
        for (RouteSubchannel subchannel : last) {
            subchannel.close();
        }
        directory.close();
    }
}
