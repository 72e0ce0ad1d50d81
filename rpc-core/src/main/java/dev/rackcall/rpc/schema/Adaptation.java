package dev.rackcall.rpc.schema;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.schema.Compatibility.Difference;
import dev.rackcall.rpc.schema.Compatibility.Sides;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Lets a client call a server of another version of its service. Only the client adapts: it writes what the server
 * expects and reads what the server writes, so servers need not know their clients' versions.
 */
public final class Adaptation {
    private static final Sides SIDES = new Sides("here", "at its server");
    private static final int MAX_DIFFERENCES = 20;
    private static final int MAX_CHARS = 400;

    private Adaptation() {}

    /**
     * The connection itself if both ends have the same version, and otherwise a view of it that converts the calls of
     * {@code mine}. If the connection's server has that service on another channel, a view over which its stubs call it.
     * Called once for each connection, not for each call.
     *
     * @param deadline nanoTime until which it may wait for the server's answer
     * @throws RpcException FAILED_PRECONDITION if the two versions cannot call each other; the message has the
     *     differences
     */
    public static ClientConnection adapt(
            ServiceDefinition<?> mine, ClientConnection connection, String channel, long deadline) {
        ServedInterface served = connection.service();
        if (mine.fingerprint() == served.fingerprint()) {
            return connection;
        }
        // A service may be served under a name that is not its interface's.
        if (!mine.channel().equals(channel) && !mine.type().getName().equals(served.name())) {
            return connection
                    .bind(mine.channel(), deadline)
                    .<ClientConnection>map(
                            other -> new OtherService(connection, mine, adapt(mine, other, mine.channel(), deadline)))
                    .orElseThrow(() -> anotherService(mine, served, channel));
        }
        Compatibility compatibility = Compatibility.of(ServedInterface.of(mine), served, SIDES);
        if (!compatibility.holds()) {
            throw incompatible(mine, served, channel, compatibility);
        }
        return new AdaptedConnection(connection, mine, compatibility);
    }

    private static RpcException incompatible(
            ServiceDefinition<?> mine, ServedInterface served, String channel, Compatibility compatibility) {
        List<Difference> differences = compatibility.differences();
        List<Difference> compatible =
                differences.stream().filter(each -> !each.breaks()).toList();
        return Status.Code.FAILED_PRECONDITION
                .with(
                        "channel %s: %s here and %s at its server cannot call each other: %s.%s Change one as it says,"
                                + " or build both from the same interface; 'rackcall compat OLD.jar NEW.jar' compares"
                                + " before you deploy. Fingerprints: %016x here, %016x there",
                        channel,
                        mine.type().getName(),
                        clean(served.name()),
                        text(differences.stream().filter(Difference::breaks).toList()),
                        compatible.isEmpty() ? "" : " They differ in other ways, too: " + text(compatible) + ".",
                        mine.fingerprint(),
                        served.fingerprint())
                .asException();
    }

    private static RpcException anotherService(ServiceDefinition<?> mine, ServedInterface served, String channel) {
        return Status.Code.FAILED_PRECONDITION
                .with(
                        "channel %s serves %s, not %s: ask for a stub of the former, or open %s, the channel of the"
                                + " latter. Fingerprints: %016x here, %016x there",
                        channel,
                        clean(served.name()),
                        mine.type().getName(),
                        mine.channel(),
                        mine.fingerprint(),
                        served.fingerprint())
                .asException();
    }

    /** Bounded, because a peer wrote part of it. */
    private static String text(List<Difference> differences) {
        String some = differences.stream()
                .limit(MAX_DIFFERENCES)
                .map(difference -> clean(difference.what()))
                .collect(Collectors.joining("; "));
        int more = differences.size() - MAX_DIFFERENCES;
        return more <= 0 ? some : some + "; and " + more + " more";
    }

    private static String clean(String text) {
        String bounded = text.length() <= MAX_CHARS ? text : text.substring(0, MAX_CHARS) + "...";
        return bounded.replaceAll("\\p{Cntrl}", "?");
    }
}
