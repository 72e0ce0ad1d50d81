package dev.rackcall.route;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.State;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ServiceDefinition;
import java.util.ArrayList;
import java.util.List;
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

    /** Those that calls may use: stubs need nothing of the others. Called by any thread, without the lock. */
    List<RouteSubchannel> callable() {
        return Stream.of(open).filter(each -> !each.isRejected()).toList();
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
     * Records a service for which later subchannels are prepared. Returns false, and records nothing, if calls may use
     * subchannels besides those in {@code asked}.
     */
    boolean isNoted(ServiceDefinition<?> definition, List<RouteSubchannel> asked) {
        if (!asked.containsAll(callable())) {
            return false;
        }
        if (!isUsed(definition)) {
            List<ServiceDefinition<?>> more = new ArrayList<>(used);
            more.add(definition);
            used = List.copyOf(more);
        }
        return true;
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
