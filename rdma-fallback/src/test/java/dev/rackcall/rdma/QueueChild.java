package dev.rackcall.rdma;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.server.AgentServer;
import dev.rackcall.rdma.queue.QueueHosts;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that serves {@code Echo} over virtual queues, or calls it, with an agent of its own or as a tenant of
 * another process's; or such an agent. Reports what it does, until its input ends.
 */
final class QueueChild {
    /** How long the message that a region is given back may take on an overloaded machine. */
    private static final long LEAVING_NANOS = TimeUnit.SECONDS.toNanos(30);

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private QueueChild() {}

    /**
     * The program.
     *
     * @param arguments "serve" or "call", the address, and for a process with an agent the name of its host and the
     *     meta server's address; or "agent", the folder where it serves, and those
     */
    public static void main(String[] arguments) throws IOException {
        URI address = URI.create(arguments[1]);
        if (arguments.length == 2) {
            EchoChild.run(arguments[0], address);
            return;
        }
        try (Agent agent = agent(arguments[2], ControlAddress.parse(arguments[3]))) {
            if (arguments[0].equals("agent")) {
                try (AgentServer server = AgentServer.open(agent, Path.of(arguments[1]))) {
                    System.out.println("agent of " + arguments[2]);
                    EchoChild.awaitEnd();
                    System.out.println(whatIsLeft(server));
                }
            } else {
                try (Tenant tenant = agent.admit("child")) {
                    QueueSettings.use(tenant);
                    EchoChild.run(arguments[0], address);
                }
            }
        }
    }

    /**
     * What tenants have not given back: an agent has one session's memory of each, and nothing else. Giving a region
     * back waits for no answer, so the message may still be in flight. What is left after a bounded wait is a leak.
     */
    private static String whatIsLeft(AgentServer server) {
        long end = System.nanoTime() + LEAVING_NANOS;
        while (QueueHosts.mappings() > server.tenants() && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return "tenants: " + server.tenants() + ", pieces of memory: " + QueueHosts.mappings();
    }

    private static Agent agent(String host, ControlAddress meta) {
        Agent agent = Agent.open(
                QueueHosts.device(host, SoftOptions.local()),
                AgentOptions.of(HostId.named(host)).withMeta(() -> meta));
        // On a busy host, the first attempt may get no answer in time.
        Await.until("the registration", () -> agent.registrationProblem().isEmpty());
        return agent;
    }
}
