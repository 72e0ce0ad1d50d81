package dev.rackcall.rdma;

import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.rdma.queue.QueueHosts;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** A client's host and a server's, each with an agent process, and a meta server. */
final class AgentProcesses implements AutoCloseable {
    /** The agent of this process's clients; {@link #far} is the servers'. */
    final AgentProcess near;

    final AgentProcess far;
    private final MetaServer meta;

    AgentProcesses(Path parent) throws IOException, InterruptedException {
        meta = MetaServer.open(QueueHosts.device("meta", SoftOptions.local()), 16, Duration.ofMinutes(1));
        far = new AgentProcess(meta, QueueHosts.SERVER, parent).use(false);
        near = new AgentProcess(meta, QueueHosts.CLIENT, parent).use(true);
    }

    @Override
    public void close() {
        near.close();
        far.close();
        meta.close();
    }
}
