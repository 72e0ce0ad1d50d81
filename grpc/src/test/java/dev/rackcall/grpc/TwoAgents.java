package dev.rackcall.grpc;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Two hosts of this process over software devices, whose agents connect clients to servers by virtual queues. As an
 * extension, they exist as long as the tests of a class.
 */
final class TwoAgents implements AfterAllCallback, AutoCloseable {
    private static final String CLIENT = "grpc-client";
    private static final String SERVER = "grpc-server";

    private final MetaServer meta =
            MetaServer.open(SoftDevice.of("grpc-meta", SoftOptions.local()), 16, Duration.ofMinutes(1));
    private final Agent near = agent(CLIENT);
    private final Agent far = agent(SERVER);
    private final Tenant clients = near.admit("clients");
    private final Tenant servers = far.admit("servers");

    TwoAgents() {
        QueueSettings.use(clients);
        QueueSettings.use(SERVER, servers);
        // Before that, a connection finds no server: on a busy host, the first registration may need another turn.
        for (Agent agent : List.of(near, far)) {
            Await.until("the registration", () -> agent.registrationProblem().isEmpty());
        }
    }

    private Agent agent(String name) {
        return Agent.open(
                SoftDevice.of(name, SoftOptions.local()),
                AgentOptions.of(HostId.named(name)).withMeta(meta::address));
    }

    /** Where servers listen. */
    static URI address(int port) {
        return URI.create("vq://" + SERVER + ":" + port);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        close();
    }

    /** After all channels and servers. */
    @Override
    public void close() {
        QueueSettings.forget(clients);
        QueueSettings.forget(servers);
        clients.close();
        servers.close();
        near.close();
        far.close();
        meta.close();
    }
}
