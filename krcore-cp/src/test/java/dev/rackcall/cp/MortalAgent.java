package dev.rackcall.cp;

import dev.rackcall.verbs.MemoryRegion;
import java.time.Duration;

/** An agent in a process of its own, to be killed. Arguments: the meta server's address and the host's name. Prints its region and sleeps. */
final class MortalAgent {
    private MortalAgent() {}

    public static void main(String[] arguments) throws InterruptedException {
        ControlAddress meta = ControlAddress.parse(arguments[0]);
        AgentOptions options = AgentOptions.of(HostId.named(arguments[1]))
                .withMeta(() -> meta)
                .withTimes(Duration.ofMillis(100), Duration.ofMillis(200));
        Agent agent = Agent.open(Hosts.device(arguments[1]), options);
        MemoryRegion region = Hosts.region(agent.admit("t"), 64);
        System.out.println(region.address() + " " + region.remoteKey());
        System.out.flush();
        // The bound, should nobody kill it.
        Thread.sleep(Duration.ofMinutes(2));
        agent.close();
    }
}
