package dev.rackcall.perf;

import dev.rackcall.cp.Agent;
import dev.rackcall.cp.AgentOptions;
import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.MetaServer;
import dev.rackcall.rdma.queue.QueueSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;

/** The control plane of calls over virtual queues: each side's process has an agent, the server's the meta server, too. Open as long as the process. */
final class BenchQueues {
    /** The server's host, in the control plane. */
    static final String SERVER = "bench-server";

    private static final String CLIENT = "bench-client";
    private static final String META_FILE = "queues.meta";

    private BenchQueues() {}

    /** Makes this process the server's host. */
    static void serve() {
        MetaServer meta = MetaServer.open(BenchDevice.get(), 16);
        join(SERVER, meta::address);
        Holder.meta = meta;
    }

    /** Tells clients how to find it. */
    static void announce(Path directory) throws IOException {
        Files.writeString(directory.resolve(META_FILE), Holder.meta.address().toString());
    }

    /** Makes this process a client's host. */
    static synchronized void join(Path directory) throws IOException {
        if (!Holder.joined) {
            ControlAddress meta = ControlAddress.parse(Files.readString(directory.resolve(META_FILE)));
            join(CLIENT, () -> meta);
            Holder.joined = true;
        }
    }

    private static void join(String host, Supplier<ControlAddress> meta) {
        Agent agent = Agent.open(
                BenchDevice.get(), AgentOptions.of(HostId.named(host)).withMeta(meta));
        QueueSettings.use(agent.admit("bench"));
    }

    /** What this process has. */
    private static final class Holder {
        private static MetaServer meta;
        private static boolean joined;
    }
}
