package dev.rackcall.cp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cp.agent.Agent;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/** A process with an agent is killed during requests, and starts again. */
class DeathTest {
    @Test
    void shouldConcernItsPeersOnlyAndEndWithANewLife() throws Exception {
        try (Hosts hosts = new Hosts(8, device -> device, Hosts.SHORT_LEASE)) {
            Agent living = hosts.agent("living");
            Agent agent = hosts.agent("client");
            MemoryRegion theirs = Hosts.region(living.admit("t"), 64);
            Tenant tenant = agent.admit("t");
            MemoryRegion ours = Hosts.region(tenant, 64);
            Child child = hosts.keep(Child.start(MortalAgent.class, hosts.meta().address(), "mortal"));
            HostId mortal = HostId.named("mortal");
            VirtualQueue toMortal = tenant.connect(mortal);
            VirtualQueue toLiving = tenant.connect(living.host());
            WorkRequest dying = WorkRequest.create(1, 0);
            WorkRequest going = WorkRequest.create(1, 0);
            dying.write(child.address(), child.key()).from(ours, 0, 8).signaled();
            going.fetchAndAdd(theirs.address(), theirs.remoteKey(), 1)
                    .from(ours, 8, 8)
                    .signaled();
            long done = 0;
            for (int i = 0; i < 1_000 || toMortal.state() != QueuePairState.ERROR; i++) {
                if (i == 500) {
                    child.close();
                }
                if (toMortal.state() != QueuePairState.ERROR) {
                    toMortal.push(dying);
                    Hosts.pop(toMortal, 1);
                }
                toLiving.push(going.id(i));
                Hosts.succeeds(toLiving, i);
                done++;
            }
            assertThat(theirs.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(done);
            Hosts.waitUntil("the lease of the dead to end", () -> hosts.meta().hosts() == 2);
            assertThatThrownBy(() -> tenant.connect(mortal)).hasMessageContaining("does not know");

            Child again = hosts.keep(Child.start(MortalAgent.class, hosts.meta().address(), "mortal"));
            VirtualQueue toAgain = tenant.connect(mortal);
            assertThat(toAgain.epoch()).isNotEqualTo(toMortal.epoch());
            Hosts.does(
                    toAgain,
                    dying.write(again.address(), again.key())
                            .from(ours, 0, 8)
                            .id(1)
                            .signaled());
        }
    }
}
