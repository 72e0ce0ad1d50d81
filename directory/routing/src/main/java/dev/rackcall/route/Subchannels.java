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
 * All subchannels of one channel that have not been closed, those included that calls have left, and what each of them is told. Changed under the lock of its
 * {@link ChannelRoutes}; calls read one field of it.
 */
final class Subchannels {
    private static final Subchannel[] NONE = {};

    private final List<Subchannel> adopted = new ArrayList<>();
    private final List<Subchannel> left = new ArrayList<>();
    /** Nobody uses them, and their peers are being told. */
    private final List<Subchannel> closing = new ArrayList<>();

    private final List<ServiceDefinition<?>> used = new ArrayList<>();
    private Optional<ClientConnection> first = Optional.empty();
    private volatile Subchannel[] open = NONE;

    /** By any thread, without the lock. */
    Subchannel[] open() {
        return open;
    }

    /** A fresh subchannel: must serve what the others serve, and learns what the channel is used for. */
    void adopt(Subchannel subchannel) {
        ClientConnection connection = subchannel.connection();
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
        adopted.add(subchannel);
        open = adopted.toArray(NONE);
    }

    void use(ServiceDefinition<?> definition) {
        if (!used.contains(definition)) {
            used.add(definition);
            for (Subchannel subchannel : open) {
                subchannel.connection().use(definition);
            }
        }
    }

    /** The first connection that was made, which may have ended: it tells what all of them serve. */
    ClientConnection first() {
        return first.orElseThrow();
    }

    /** Nothing new goes there any more. */
    void leave(Subchannel subchannel, String why, Subchannel.Left how) {
        subchannel.leave(why, how);
        left.add(subchannel);
    }

    /** Closes those that were left and that nobody uses any more. */
    void closeForsaken() {
        for (Subchannel subchannel : List.copyOf(left)) {
            if (subchannel.isForsaken()) {
                left.remove(subchannel);
                closing.add(subchannel);
                adopted.remove(subchannel);
                // What was published last may have to be carried over first.
                Background.run(subchannel::close);
            }
        }
        closing.removeIf(Subchannel::isClosed);
        open = adopted.toArray(NONE);
    }

    Stream<Route> describeLeft() {
        Stream<Subchannel> all =
                Stream.concat(left.stream(), closing.stream().filter(subchannel -> !subchannel.isClosed()));
        return all.map(
                subchannel -> subchannel.route().describe(State.LEAVING, subchannel.whyLeaving(), subchannel.calls()));
    }
}
