package dev.rackcall.soak;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.cp.server.AgentServer;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A process with the agents of the queues' two hosts and the meta server. Their tenants are the other processes. */
final class SoakAgents extends SoakChild {
    private static final int MOST_HOSTS = 16;

    private final MetaServer meta =
            MetaServer.open(SoftDevice.of("meta", SoftOptions.local()), MOST_HOSTS, Duration.ofMinutes(1));
    private final Agent near = agent(SoakTransport.CLIENT_HOST);
    private final Agent far = agent(SoakTransport.SERVER_HOST);
    private final AgentServer clients;
    private final AgentServer servers;

    private SoakAgents(Path root) {
        clients = AgentServer.open(near, SoakTransport.QUEUES.runtime(root, false));
        servers = AgentServer.open(far, SoakTransport.QUEUES.runtime(root, true));
    }

    /**
     * The program.
     *
     * @param arguments the soak's folder
     */
    public static void main(String[] arguments) {
        try {
            new SoakAgents(Path.of(arguments[0])).run();
        } catch (Throwable t) {
            fail(t);
        }
    }

    private Agent agent(String host) {
        Agent agent = Agent.open(
                SoftDevice.of(host, SoftOptions.local()),
                AgentOptions.of(HostId.named(host)).withMeta(meta::address));
        Await.until(
                "the registration of " + host, () -> agent.registrationProblem().isEmpty());
        return agent;
    }

    @Override
    Map<String, Long> calm() {
        return Map.of("tenants", (long) clients.tenants() + servers.tenants());
    }

    @Override
    void end() {
        clients.close();
        servers.close();
        near.close();
        far.close();
        meta.close();
    }
}
