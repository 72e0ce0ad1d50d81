package dev.rackcall.rpc;

import dev.rackcall.rdma.queue.QueueHosts;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Shared objects by pointer, over virtual queues of agents that are other processes. */
class AgentProcessSharedCallTest extends SharedArenaCallTest {
    private static final AtomicInteger PORTS = new AtomicInteger();
    private static AgentProcesses agents;

    private final URI address = URI.create("vq://" + QueueHosts.SERVER + ":" + PORTS.incrementAndGet());

    @BeforeAll
    static void open(@TempDir Path parent) throws Exception {
        agents = new AgentProcesses(parent);
    }

    @AfterAll
    static void end() {
        Await.equal("exchanges that are open", 0, QueueHosts::openExchanges);
        agents.close();
    }

    @Override
    RpcServer.Builder place(RpcServer.Builder server) {
        return super.place(server).listen(address);
    }

    @Override
    RpcChannel.Builder place(RpcChannel.Builder channel) {
        return super.place(channel).address(address).arenaQuota(8 << 20);
    }
}
