package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ServiceDefinition;
import java.util.LinkedHashSet;
import java.util.Set;

/** Compares the interfaces of a connection's two ends, and names the lines that differ. */
final class Fingerprints {
    private Fingerprints() {}

    static void check(ServiceDefinition<?> mine, ClientConnection connection, String channel) {
        if (mine.fingerprint() == connection.service().fingerprint()) {
            return;
        }
        if (!mine.channel().equals(channel)
                && !mine.type().getName().equals(connection.service().name())) {
            throw anotherService(mine, connection, channel);
        }
        Set<String> here = lines(mine.description());
        Set<String> there = lines(connection.service().description());
        Set<String> onlyHere = new LinkedHashSet<>(here);
        onlyHere.removeAll(there);
        Set<String> onlyThere = new LinkedHashSet<>(there);
        onlyThere.removeAll(here);
        throw Status.Code.FAILED_PRECONDITION
                .with(
                        "channel %s: %s here and %s at its server differ; build both from the same interface. Only here: %s. Only there: %s."
                                + " Fingerprints: %016x here, %016x there",
                        channel,
                        mine.type().getName(),
                        connection.service().name(),
                        onlyHere,
                        onlyThere,
                        mine.fingerprint(),
                        connection.service().fingerprint())
                .asException();
    }

    private static RpcException anotherService(ServiceDefinition<?> mine, ClientConnection connection, String channel) {
        return Status.Code.FAILED_PRECONDITION
                .with(
                        "channel %s serves %s, not %s: ask for a stub of the former, or open %s, the channel of the latter."
                                + " Fingerprints: %016x here, %016x there",
                        channel,
                        connection.service().name(),
                        mine.type().getName(),
                        mine.channel(),
                        mine.fingerprint(),
                        connection.service().fingerprint())
                .asException();
    }

    private static Set<String> lines(String description) {
        return new LinkedHashSet<>(description.lines().toList());
    }
}
