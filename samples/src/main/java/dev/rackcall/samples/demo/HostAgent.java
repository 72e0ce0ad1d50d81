package dev.rackcall.samples.demo;

import dev.rackcall.cp.Agent;
import dev.rackcall.cp.AgentOptions;
import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.util.Optional;

/** A host's part in the control plane of the rack demo: calls of this process go over its virtual queues as long as it is open. One thread. */
final class HostAgent implements AutoCloseable {
    private final Agent agent;
    private final Tenant tenant;

    private HostAgent(Agent agent, Tenant tenant) {
        this.agent = agent;
        this.tenant = tenant;
    }

    /** Nothing if there is no meta server, or the agent cannot be opened: each connection then has a queue pair of its own. */
    static Optional<HostAgent> open(RackMessages.Setup setup) {
        try {
            return setup.meta().map(meta -> open(setup.host(), ControlAddress.parse(meta)));
        } catch (ControlPlaneException | VerbsException e) {
            System.err.println(setup.host() + " does without virtual queues: " + e.getMessage());
            return Optional.empty();
        }
    }

    private static HostAgent open(String host, ControlAddress meta) {
        Agent agent = Agent.open(
                SoftDevice.of(host, SoftOptions.local()),
                AgentOptions.of(HostId.named(host)).withMeta(() -> meta));
        Tenant tenant = agent.admit(host);
        QueueSettings.use(tenant);
        return new HostAgent(agent, tenant);
    }

    @Override
    public void close() {
        QueueSettings.forget(tenant);
        tenant.close();
        agent.close();
    }
}
