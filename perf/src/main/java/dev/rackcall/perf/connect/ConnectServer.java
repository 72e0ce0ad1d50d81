package dev.rackcall.perf.connect;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.cp.server.AgentServer;
import dev.rackcall.perf.harness.PublishedFile;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.rdma.BenchDevice;
import dev.rackcall.perf.rdma.RcServer;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.EnumSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server of all connecting subjects: a meta server, an agent that is registered there and serves other processes,
 * and an {@link RcServer}.
 */
final class ConnectServer implements ServerSide {
    static final HostId HOST = HostId.named("connect-server");
    private static final Logger LOG = LoggerFactory.getLogger(ConnectServer.class);
    private static final String FILE = "connect-server";

    private final MetaServer meta = MetaServer.open(BenchDevice.get(), 1024);
    private final Agent agent =
            Agent.open(BenchDevice.get(), AgentOptions.of(HOST).withMeta(meta::address));
    private final AgentServer door;
    private final RcServer queuePairs;

    ConnectServer(Path directory) throws IOException {
        door = AgentServer.open(agent, directory);
        MemorySegment memory = Arena.global().allocate(4096, 4096);
        MemoryRegion region = agent.admit("bench").register(memory, EnumSet.of(Access.REMOTE_READ));
        queuePairs = new RcServer(memory, RcServer.Clients.FEW);
        PublishedFile.publish(
                directory.resolve(FILE),
                meta.address() + " " + queuePairs.port() + " " + agent.epoch() + " " + region.address() + " "
                        + region.remoteKey());
    }

    /**
     * What the server tells its clients.
     *
     * @param port of the {@link RcServer}
     * @param epoch of the agent
     * @param address of memory to read
     * @param key of that memory
     */
    record Described(ControlAddress meta, int port, int epoch, long address, int key) {}

    /** Waits for the server side. */
    static Described find(Path directory) throws IOException, InterruptedException {
        String[] words = PublishedFile.await(directory.resolve(FILE)).split(" ");
        return new Described(
                ControlAddress.parse(words[0]),
                Integer.parseInt(words[1]),
                Integer.parseInt(words[2]),
                Long.parseLong(words[3]),
                Integer.parseInt(words[4]));
    }

    @Override
    public void close() {
        try (meta;
                agent;
                door;
                queuePairs) {
            LOG.debug("closing");
        }
    }
}
