package dev.rackcall.perf;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.cp.server.AgentServer;
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
    /** The host of clients whose agent is another process. */
    private static final String AGENT = "bench-agent";

    private static final String AGENT_FOLDER = "agent";
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

    /** Serves an agent, of a host of its own, to clients of other processes. */
    static void serveClients(Path directory) throws IOException {
        ControlAddress meta = Holder.meta.address();
        Agent agent = Agent.open(
                BenchDevice.get(), AgentOptions.of(HostId.named(AGENT)).withMeta(() -> meta));
        AgentServer.open(agent, Files.createDirectory(directory.resolve(AGENT_FOLDER)));
    }

    /** Makes this process a client of that agent. */
    static void joinAgent(Path directory) {
        QueueSettings.use(AgentFolder.join(directory.resolve(AGENT_FOLDER), "bench"));
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
