package dev.rackcall.route;

import dev.rackcall.directory.Endpoint;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.spi.ClientSpec;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The endpoints of one channel: those that the directory names, and former ones that are still connected. Decides when
 * each is tried: nearest first, each on a background thread. Used with the lock of its {@link ChannelRoutes} held.
 */
final class ChannelEndpoints {
    private static final Logger LOG = LoggerFactory.getLogger(ChannelEndpoints.class);
    private static final String OTHERS_NEARER = "another server is nearer";

    private final ChannelRoutes channelRoutes;
    private final ClientSpec spec;
    private final ChannelPool pool;
    private final Map<String, EndpointRoutes> known = new TreeMap<>();

    ChannelEndpoints(ChannelRoutes channelRoutes, ClientSpec spec, ChannelPool pool) {
        this.channelRoutes = channelRoutes;
        this.spec = spec;
        this.pool = pool;
    }

    boolean isEmpty() {
        return known.isEmpty();
    }

    /**
     * Applies the directory's current endpoints. An endpoint that is no longer named stays while its connection lasts,
     * because a server that answers still serves.
     */
    void follow(List<Endpoint> named) {
        known.values().forEach(each -> each.named = false);
        for (Endpoint endpoint : named) {
            EndpointRoutes before = known.get(endpoint.id());
            if (before == null || !before.isAt(endpoint)) {
                if (before != null) {
                    before.giveUp("its server is reached by other addresses now");
                }
                known.put(endpoint.id(), new EndpointRoutes(channelRoutes, endpoint, spec, pool));
            } else {
                before.update(endpoint);
                before.named = true;
            }
        }
        for (EndpointRoutes each : List.copyOf(known.values())) {
            if (!each.named && !each.busy && each.subchannel().isEmpty()) {
                each.giveUp("the directory no longer names it");
                known.values().remove(each);
            }
        }
    }

    /** Makes the next {@link #pump} try all endpoints. */
    void want(boolean urgently) {
        known.values().forEach(each -> {
            each.due = true;
            each.urgent |= urgently;
        });
    }

    /** Whether an endpoint may still become reachable. */
    boolean areTried() {
        return known.values().stream().anyMatch(each -> each.busy || each.due);
    }

    /** Whether an endpoint is being tried for the first time. */
    boolean areTriedFirst() {
        return known.values().stream().anyMatch(each -> each.busy && !each.tried);
    }

    /** Tries the routes of connected endpoints, and those of the nearest other endpoints until one is connected. */
    void pump() {
        int best = best();
        Map<EndpointRoutes, Integer> hopes =
                known.values().stream().collect(Collectors.toMap(each -> each, EndpointRoutes::hope));
        for (EndpointRoutes each : known.values()) {
            int hope = hopes.get(each);
            boolean nearerIsTried = hopes.entrySet().stream()
                    .anyMatch(other -> other.getValue() < hope && other.getKey().mayYetAnswer());
            boolean wanted = hope <= best && !nearerIsTried;
            if (each.due && !each.busy && (wanted || each.subchannel().isPresent())) {
                begin(each);
            } else if (best < hope && !each.busy && each.subchannel().isEmpty()) {
                each.stepBack(OTHERS_NEARER);
            }
        }
    }

    private void begin(EndpointRoutes endpoint) {
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
                LOG.warn("channel {}: an endpoint's routes could not be tried", spec.channel(), e);
            } finally {
                channelRoutes.tried(endpoint);
            }
        });
    }

    private int best() {
        return usable().mapToInt(RouteSubchannel::rank).min().orElse(EndpointRoutes.UNREACHABLE);
    }

    private Stream<RouteSubchannel> usable() {
        return known.values().stream().flatMap(each -> each.subchannel().stream());
    }

    /**
     * The subchannels of the nearest reachable endpoints.
     *
     * @param current whether the directory's content is current
     */
    RouteSubchannel[] nearest(boolean current) {
        known.values().forEach(each -> each.weigh(current));
        int best = best();
        return usable().filter(subchannel -> subchannel.rank() == best).toArray(RouteSubchannel[]::new);
    }

    /** Leaves subchannels that are farther than others. */
    void leaveFarther() {
        int best = best();
        for (EndpointRoutes each : known.values()) {
            if (!each.busy
                    && each.subchannel()
                            .filter(subchannel -> subchannel.rank() > best)
                            .isPresent()) {
                each.stepBack(OTHERS_NEARER);
            }
        }
    }

    Stream<RpcException> failures() {
        return known.values().stream().flatMap(EndpointRoutes::failures);
    }

    /** For a message: each endpoint with its routes and their problems. */
    String complaints() {
        return known.values().stream().map(EndpointRoutes::complaint).collect(Collectors.joining(". "));
    }

    Stream<Route> describe() {
        return known.values().stream()
                .sorted(Comparator.comparing(
                        each -> each.subchannel().map(RouteSubchannel::rank).orElse(EndpointRoutes.UNREACHABLE)))
                .flatMap(each -> each.describe().stream());
    }
}
