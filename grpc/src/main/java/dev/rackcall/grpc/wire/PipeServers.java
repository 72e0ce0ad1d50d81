package dev.rackcall.grpc.wire;

import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.runtime.ServerInstance;
import java.util.List;
import java.util.stream.Stream;

/** Finds the gRPC servers of a channel in the runtime directory; each has an instance there. */
public final class PipeServers {
    /** Tells their instances from those of Rackcall's own servers, which may have a channel of the same name. */
    private static final String PREFIX = "grpc";

    private PipeServers() {}

    /** The ids of the living servers, in a fixed order. */
    public static List<String> living(RuntimeDirectory directory, String channel) {
        return all(directory, channel)
                .filter(ServerInstance::isAlive)
                .map(ServerInstance::id)
                .sorted()
                .toList();
    }

    /** A place for a new server, which no living one has. */
    static ServerInstance newPlace(RuntimeDirectory directory, String channel) {
        List<String> taken = living(directory, channel);
        String id = newId();
        // Another server may take the same one at the same time; the lock decides.
        for (int attempts = 0; taken.contains(id) && attempts < 1000; attempts++) {
            id = newId();
        }
        return directory.instance(channel, id);
    }

    private static String newId() {
        return PREFIX + RuntimeDirectory.newId().substring(PREFIX.length());
    }

    /** Removes what killed servers have left. */
    static void cleanDead(RuntimeDirectory directory, String channel) {
        all(directory, channel).filter(each -> !each.isAlive()).forEach(directory::clean);
    }

    private static Stream<ServerInstance> all(RuntimeDirectory directory, String channel) {
        return directory.instances(channel).stream().filter(each -> each.id().startsWith(PREFIX));
    }
}
