package dev.rackcall.route;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.State;
import dev.rackcall.rpc.Status;
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

    private final List<ServiceDefinition<?>> used = new ArrayList<>();
    private Optional<ClientConnection> first = Optional.empty();
    private volatile RouteSubchannel[] open = NONE;

    /** Called by any thread, without the lock. */
    RouteSubchannel[] open() {
        return open;
    }

    /** Adds a new subchannel, which must serve the same interface as the others, and registers the services in use. */
    void adopt(RouteSubchannel subchannel) {
        ClientConnection connection = subchannel.connection();
        if (first.isPresent()
                && first.get().service().fingerprint() != connection.service().fingerprint()) {
            connection.close();
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "it serves another interface (fingerprint %016x) than this channel was opened with (%016x); build"
                                    + " both from the same, and open the channel anew",
                            connection.service().fingerprint(),
                            first.get().service().fingerprint())
                    .asException();
        }
        if (first.isEmpty()) {
            first = Optional.of(connection);
        }
        used.forEach(connection::use);
        adopted.add(subchannel);
        open = adopted.toArray(NONE);
    }

    void use(ServiceDefinition<?> definition) {
        if (!used.contains(definition)) {
            used.add(definition);
            for (RouteSubchannel subchannel : open) {
                subchannel.connection().use(definition);
            }
        }
    }

    /** The first connection, which may have ended. All connections serve the same interface as this one. */
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
