package dev.rackcall.perf.calls;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.cp.server.AgentServer;
import dev.rackcall.perf.rdma.BenchDevice;
import dev.rackcall.rdma.queue.QueueSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;

/**
 * The control plane of calls over virtual queues: each side's process has an agent, and the server's process also has
 * the meta server. All stay open until the process ends.
 */
final class BenchQueues {
    /** The server's host, in the control plane. */
    static final String SERVER = "bench-server";

    private static final String CLIENT = "bench-client";
    /** The host of clients whose agent is another process. */
    private static final String AGENT = "bench-agent";

    private static final String AGENT_FOLDER = "agent";
    private static final String META_FILE = "queues.meta";
    private static MetaServer served;
    private static boolean joined;

    private BenchQueues() {}

    /** Makes this process the server's host. */
    static synchronized void serve() {
        served = MetaServer.open(BenchDevice.get(), 16);
        QueueSettings.use(agent(SERVER, served::address).admit("bench"));
    }

    /** Publishes the meta server's address. */
    static synchronized void announce(Path directory) throws IOException {
        Files.writeString(directory.resolve(META_FILE), served.address().toString());
    }

    /** Makes this process a client's host. */
    static synchronized void join(Path directory) throws IOException {
        if (!joined) {
            ControlAddress meta = ControlAddress.parse(Files.readString(directory.resolve(META_FILE)));
            QueueSettings.use(agent(CLIENT, () -> meta).admit("bench"));
            joined = true;
        }
    }

    /** Serves an agent, of a host of its own, to clients of other processes. */
    static synchronized void serveClients(Path directory) throws IOException {
        AgentServer.open(agent(AGENT, served::address), Files.createDirectory(directory.resolve(AGENT_FOLDER)));
    }

    /** Makes this process a client of that agent. */
    static void joinAgent(Path directory) {
        QueueSettings.use(AgentFolder.join(directory.resolve(AGENT_FOLDER), "bench"));
    }

    private static Agent agent(String host, Supplier<ControlAddress> meta) {
        return Agent.open(BenchDevice.get(), AgentOptions.of(HostId.named(host)).withMeta(meta));
    }
}
