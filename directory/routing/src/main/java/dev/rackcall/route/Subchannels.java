package dev.rackcall.route;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.State;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.balance.Subchannel;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ServiceDefinition;
import java.util.ArrayList;
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

    private final List<RouteSubchannel> adopted = new ArrayList<>();
    private final List<RouteSubchannel> left = new ArrayList<>();
    /** Subchannels that were left, are unused, and are being closed. */
    private final List<RouteSubchannel> closing = new ArrayList<>();

    /** One for each interface for which the channel has stubs; replaced as a whole. */
    private volatile List<ServiceDefinition<?>> used = List.of();

    private Optional<ClientConnection> first = Optional.empty();
    private volatile RouteSubchannel[] open = NONE;

    /** Called by any thread, without the lock. */
    RouteSubchannel[] open() {
        return open;
    }

    /** The services of the channel's stubs. Called by any thread, without the lock. */
    List<ServiceDefinition<?>> used() {
        return used;
    }

    /** Called by any thread, without the lock. */
    boolean isUsed(ServiceDefinition<?> definition) {
        return used.stream().anyMatch(known -> known.type() == definition.type());
    }

    /** Adds a new subchannel, unless the stubs use more services than it was prepared for. */
    boolean isAdopted(RouteSubchannel subchannel, List<ServiceDefinition<?>> prepared) {
        if (used != prepared) {
            return false;
        }
        if (first.isEmpty()) {
            first = Optional.of(subchannel.connection());
        }
        adopted.add(subchannel);
        open = adopted.toArray(NONE);
        return true;
    }

    /**
     * Records a service for which later subchannels are prepared. Returns false, and records nothing, if there are
     * subchannels besides those in {@code asked}.
     */
    boolean isNoted(ServiceDefinition<?> definition, List<RouteSubchannel> asked) {
        if (!asked.containsAll(List.of(open))) {
            return false;
        }
        if (!isUsed(definition)) {
            List<ServiceDefinition<?>> more = new ArrayList<>(used);
            more.add(definition);
            used = List.copyOf(more);
        }
        return true;
    }

    /**
     * Takes new calls off subchannels; their routes leave them later, and reconnect.
     *
     * @return those of unsuitable servers at which callers hold no objects, for the caller to close; the others' calls
     *     in flight go on
     */
    List<RouteSubchannel> reject(Map<RouteSubchannel, RpcException> failures) {
        failures.keySet().forEach(RouteSubchannel::reject);
        List<RouteSubchannel> unsuitable = failures.keySet().stream()
                .filter(each -> Subchannel.isFinal(failures.get(each)))
                .filter(each -> !each.connection().hasHeldObjects())
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
