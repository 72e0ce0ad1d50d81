package dev.rackcall.cp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.WorkRequest;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The same on devices without dynamically connected queue pairs, and what only they have: a queue pair for each peer, at both ends. */
class ConnectedQueueTest extends VirtualQueueTest {
    @Override
    Hosts newHosts() {
        return new Hosts(16, PlainDevice::new);
    }

    private static void works(Tenant tenant, HostId host, MemoryRegion theirs) {
        MemoryRegion ours = Hosts.region(tenant, 64);
        VirtualQueue queue = tenant.connect(host);
        queue.push(WorkRequest.create(1, 0)
                .write(theirs.address(), theirs.remoteKey())
                .from(ours, 0, 8)
                .id(1)
                .signaled());
        assertThat(Hosts.pop(queue, 1)).containsExactly(new Hosts.Done(1, CompletionStatus.SUCCESS));
    }

    @Test
    void shouldShareOneQueuePairAPeer() throws Exception {
        Agent server = hosts().agent("server");
        MemoryRegion theirs = Hosts.region(server.admit("t"), 64);
        Agent client = hosts().agent("client");
        int before = client.queuePairs();
        int beforeThere = server.queuePairs();
        for (int i = 0; i < 100; i++) {
            Tenant tenant = client.admit("tenant " + i);
            works(tenant, server.host(), theirs);
            assertThat(tenant.connect(server.host()).failure()).isEmpty();
        }
        assertThat(client.queuePairs()).isEqualTo(before + 1);
        assertThat(server.queuePairs()).isEqualTo(beforeThere + 1);
        hosts().drop(client);
        Hosts.waitUntil("the server to hear of it", () -> server.queuePairs() == beforeThere);
    }

    @Test
    void shouldLetGoOfConnectionsOfTheDead() throws Exception {
        try (Hosts mortals = new Hosts(16, PlainDevice::new, Hosts.SHORT_LEASE)) {
            Agent server = mortals.agent("server");
            MemoryRegion theirs = Hosts.region(server.admit("t"), 64);
            int before = server.queuePairs();
            // It never renews, so that it counts as dead after its lease, and says no goodbye until then.
            Agent client = mortals.agent("c", options -> options.withTimes(Duration.ofDays(1), options.validity()));
            works(client.admit("t"), server.host(), theirs);
            assertThat(server.queuePairs()).isEqualTo(before + 1);
            Hosts.waitUntil("the lease to end and the server to look", () -> server.queuePairs() == before);
        }
    }

    @Test
    void shouldMixWithDynamicDevices() {
        assumeFalse(Hosts.isReal(), "only the software device is dynamic");
        Agent dynamic = hosts().keep(Agent.open(
                Hosts.device("dynamic"),
                AgentOptions.of(HostId.named("dynamic"))
                        .withMeta(() -> hosts().meta().address())));
        Agent plain = hosts().agent("plain");
        MemoryRegion atDynamic = Hosts.region(dynamic.admit("t"), 64);
        MemoryRegion atPlain = Hosts.region(plain.admit("t"), 64);
        works(plain.admit("u"), dynamic.host(), atDynamic);
        works(dynamic.admit("u"), plain.host(), atPlain);
        assertThat(dynamic.queuePairs()).as("eleven of its own, one each way").isEqualTo(13);
    }
}
