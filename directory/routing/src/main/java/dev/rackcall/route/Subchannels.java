package dev.rackcall.route;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.State;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.balance.Subchannel;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ServiceDefinition;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * All open subchannels of one channel, including those that calls have left, and the services that are registered with
 * each of them. Changed with the lock of its {@link ChannelRoutes} held; calls read one field.
 */
final class Subchannels {
    private static final RouteSubchannel[] NONE = {};

    private final String channel;
    private final List<RouteSubchannel> adopted = new ArrayList<>();
    private final List<RouteSubchannel> left = new ArrayList<>();
    /** Subchannels that were left, are unused, and are being closed. */
    private final List<RouteSubchannel> closing = new ArrayList<>();

    private final List<ServiceDefinition<?>> used = new ArrayList<>();
    private Optional<ClientConnection> first = Optional.empty();
    private volatile RouteSubchannel[] open = NONE;

    /** Called by any thread, without the lock. */
    RouteSubchannel[] open() {
        return open;
    }

    Subchannels(String channel) {
        this.channel = channel;
    }

    /** Adds a new subchannel. Its server must have a version that the stubs in use can call. */
    void adopt(RouteSubchannel subchannel) {
        try {
            used.forEach(definition -> subchannel.use(definition, channel));
        } catch (RuntimeException | Error e) {
            Background.run(subchannel.connection()::close);
            throw e;
        }
        if (first.isEmpty()) {
            first = Optional.of(subchannel.connection());
        }
        adopted.add(subchannel);
        open = adopted.toArray(NONE);
    }

    /**
     * Prepares all present and later subchannels for the calls of a service's stubs.
     *
     * @return the subchannels that these stubs cannot use, and why not
     * @throws RpcException if these are all subchannels; FAILED_PRECONDITION if their servers' version is the reason
     */
    Map<RouteSubchannel, RpcException> use(ServiceDefinition<?> definition) {
        if (used.stream().anyMatch(known -> known.type() == definition.type())) {
            return Map.of();
        }
        Map<RouteSubchannel, RpcException> failures = new LinkedHashMap<>();
        for (RouteSubchannel subchannel : open) {
            try {
                subchannel.use(definition, channel);
            } catch (RpcException e) {
                failures.put(subchannel, e);
            }
        }
        if (!failures.isEmpty() && failures.size() == open.length) {
            throw failures.values().iterator().next();
        }
        used.add(definition);
        return failures;
    }

    /**
     * Takes new calls off subchannels; their routes leave them later, and connect anew.
     *
     * @return those of unsuitable servers, for the caller to close; the others' calls in flight go on
     */
    List<RouteSubchannel> reject(Map<RouteSubchannel, RpcException> failures) {
        failures.keySet().forEach(RouteSubchannel::reject);
        List<RouteSubchannel> unsuitable = failures.keySet().stream()
                .filter(each -> Subchannel.isFinal(failures.get(each)))
                .toList();
        adopted.removeAll(unsuitable);
        open = adopted.toArray(NONE);
        return unsuitable;
    }

    /** The first connection, which may have ended. */
    ClientConnection first() {
        return first.orElseThrow();
    }

    /** Leaves a subchannel: it gets no new calls. */
    void leave(RouteSubchannel subchannel, String why, RouteSubchannel.Left how) {
        subchannel.leave(why, how);
        left.add(subchannel);
    }

    /** Closes unused subchannels that were left. */
    void closeForsaken() {
        for (RouteSubchannel subchannel : List.copyOf(left)) {
            if (subchannel.isForsaken()) {
                left.remove(subchannel);
                closing.add(subchannel);
                adopted.remove(subchannel);
                // Closing may block, because its last requests may have to be transferred first.
                Background.run(subchannel::close);
            }
        }
        closing.removeIf(RouteSubchannel::isClosed);
        open = adopted.toArray(NONE);
    }

    Stream<Route> describeLeft() {
        Stream<RouteSubchannel> all =
                Stream.concat(left.stream(), closing.stream().filter(subchannel -> !subchannel.isClosed()));
        return all.map(
                subchannel -> subchannel.route().describe(State.LEAVING, subchannel.whyLeaving(), subchannel.calls()));
    }
}
