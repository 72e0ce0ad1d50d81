package dev.rackcall.cp;

import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.server.AgentServer;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.MemoryRegion;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * An agent in its own process, to be killed. Arguments: the meta server's address, the host's name, and optionally a
 * folder in which it serves tenants of other processes. Prints its region and sleeps.
 */
public final class MortalAgent {
    private MortalAgent() {}

    public static void main(String[] arguments) throws InterruptedException, IOException {
        ControlAddress meta = ControlAddress.parse(arguments[0]);
        AgentOptions options = AgentOptions.of(HostId.named(arguments[1]))
                .withMeta(() -> meta)
                .withTimes(Duration.ofMillis(100), Duration.ofMillis(200));
        Agent agent = Agent.open(Hosts.device(arguments[1]), options);
        MemoryRegion region = Hosts.region(agent.admit("t"), 64);
        if (arguments.length > 2) {
            AgentServer.open(agent, Path.of(arguments[2]));
        }
        // On a busy host, the first attempt may get no answer in time.
        Await.until("the registration", () -> agent.registrationProblem().isEmpty());
        System.out.println(region.address() + " " + region.remoteKey());
        System.out.flush();
        // Ends by itself if it is not killed.
        Thread.sleep(Duration.ofMinutes(2));
        agent.close();
    }
}
