package dev.rackcall.rpc;

import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ServiceDefinition;
import java.util.LinkedHashSet;
import java.util.Set;

/** Compares what the two ends of a connection were built from, and says in which lines they differ. */
final class Fingerprints {
    private Fingerprints() {}

    static void check(ServiceDefinition<?> mine, ClientConnection connection, String channel) {
        if (mine.fingerprint() == connection.fingerprint()) {
            return;
        }
        Set<String> here = lines(mine.description());
        Set<String> there = lines(connection.description());
        Set<String> onlyHere = new LinkedHashSet<>(here);
        onlyHere.removeAll(there);
        Set<String> onlyThere = new LinkedHashSet<>(there);
        onlyThere.removeAll(here);
        throw Status.Code.FAILED_PRECONDITION
                .with(
                        "channel %s: %s here (fingerprint %016x) and %s at its server (%016x) differ; build both from the same"
                                + " interface. Only here: %s. Only there: %s",
                        channel,
                        mine.type().getName(),
                        mine.fingerprint(),
                        connection.serviceName(),
                        connection.fingerprint(),
                        onlyHere,
                        onlyThere)
                .asException();
    }

    private static Set<String> lines(String description) {
        return new LinkedHashSet<>(description.lines().toList());
    }
}
