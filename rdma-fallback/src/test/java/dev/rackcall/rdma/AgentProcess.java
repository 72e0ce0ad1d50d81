package dev.rackcall.rdma;

import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.rdma.queue.QueueHosts;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** An agent that is another process, which can be killed and started again, with this process as its tenant. */
final class AgentProcess implements AutoCloseable {
    /** For a JVM on an emulated processor. */
    private static final Duration START_BOUND = Duration.ofMinutes(2);

    private final MetaServer meta;
    private final String host;
    private final Path folder;
    private ChildJvm process;
    private final Tenant tenant;

    /**
     * Starts it.
     *
     * @param parent of the folder where it serves
     */
    AgentProcess(MetaServer meta, String host, Path parent) throws IOException, InterruptedException {
        this.meta = meta;
        this.host = host;
        folder = Files.createDirectory(parent.resolve(host));
        start();
        tenant = AgentFolder.join(folder, "test");
    }

    /** Servers of this process at this host's name use it from now on, and clients if {@code byClients}. */
    AgentProcess use(boolean byClients) {
        QueueSettings.use(host, tenant);
        if (byClients) {
            QueueSettings.use(tenant);
        }
        return this;
    }

    void start() throws InterruptedException {
        process = ChildJvm.of(QueueChild.class, "agent", folder, host, meta.address())
                .flags(QueueHosts.flags())
                .directory(folder)
                .start();
        process.awaitLine("agent", START_BOUND);
    }

    void kill() throws InterruptedException {
        process.kill();
    }

    /** Ends it normally; returns its last line. */
    String end() throws IOException, InterruptedException {
        process.end();
        return process.awaitLine("tenants");
    }

    Tenant tenant() {
        return tenant;
    }

    @Override
    public void close() {
        QueueSettings.forget(tenant);
        tenant.close();
        process.close();
    }
}
