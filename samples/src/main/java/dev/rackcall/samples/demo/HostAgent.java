package dev.rackcall.samples.demo;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A host's agent in the rack demo: calls of this process use its virtual queues while it is open. Used by one thread.
 */
final class HostAgent implements AutoCloseable {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Empty if the agent is a process of its own. */
    private final Optional<Agent> agent;

    private final Tenant tenant;

    private HostAgent(Optional<Agent> agent, Tenant tenant) {
        this.agent = agent;
        this.tenant = tenant;
        QueueSettings.use(tenant);
    }

    /**
     * Opens an agent in this process if the host has a meta server, otherwise joins the machine's agent process.
     * Returns empty if neither is possible: each connection then has a queue pair of its own.
     *
     * @param patience how long an agent process may take to admit this process
     */
    static Optional<HostAgent> open(RackSeat.Host host, Duration patience) {
        try {
            if (host.meta().isPresent()) {
                return Optional.of(
                        open(host.name(), ControlAddress.parse(host.meta().get())));
            }
            Path folder = RuntimeDirectory.defaultPath();
            return AgentFolder.isServed(folder)
                    ? Optional.of(new HostAgent(Optional.empty(), join(folder, host.name(), patience)))
                    : Optional.empty();
        } catch (ControlPlaneException | VerbsException e) {
            System.err.println(host.name() + " does without virtual queues: " + e.getMessage());
            return Optional.empty();
        }
    }

    private static HostAgent open(String host, ControlAddress meta) {
        Agent agent = Agent.open(
                SoftDevice.of(host, SoftOptions.local()),
                AgentOptions.of(HostId.named(host)).withMeta(() -> meta));
        return new HostAgent(Optional.of(agent), agent.admit(host));
    }

    /** Each attempt takes at most 5 s, which is short on an emulated, overloaded machine. */
    private static Tenant join(Path folder, String host, Duration patience) {
        long begin = System.nanoTime();
        while (true) {
            try {
                return AgentFolder.join(folder, host);
            } catch (ControlPlaneException e) {
                boolean mayGoOn = e.kind() == Kind.UNREACHABLE && AgentFolder.isServed(folder);
                if (!mayGoOn || System.nanoTime() - begin >= patience.toNanos()) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    @Override
    public void close() {
        QueueSettings.forget(tenant);
        tenant.close();
        agent.ifPresent(Agent::close);
    }
}
