package dev.rackcall.cp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The cost of many virtual queues. */
class ManyQueuesTest {
    private static final int PEERS = 100;
    private static final int QUEUES = 1_000;

    private record Server(Agent agent, MemoryRegion region) {}

    @Test
    void shouldShareTheQueuePairsOfOneAmongAThousandToAHundredPeers() throws Exception {
        try (Hosts hosts = new Hosts(PEERS + 1, device -> device, Duration.ofHours(1))) {
            List<Server> servers = new ArrayList<>();
            for (int i = 0; i < PEERS; i++) {
                Agent agent = hosts.agent("server " + i, ManyQueuesTest::seldomRenewing);
                servers.add(new Server(agent, Hosts.region(agent.admit("t"), 64)));
            }
            Agent client = hosts.agent("client");
            Tenant tenant = client.admit("t");
            MemoryRegion ours = Hosts.region(tenant, 64);
            tenant.connect(servers.getFirst().agent().host());
            int queuePairsOfOne = client.queuePairs();

            List<VirtualQueue> queues = new ArrayList<>();
            for (int i = 0; i < QUEUES; i++) {
                queues.add(tenant.connect(servers.get(i % PEERS).agent().host()));
            }
            for (int i = 0; i < QUEUES; i++) {
                Hosts.does(queues.get(i), Hosts.add(servers.get(i % PEERS).region(), ours, i));
            }
            assertThat(client.queuePairs()).isLessThanOrEqualTo(3 * queuePairsOfOne);
            assertThat(client.knownHosts()).isEqualTo(PEERS);
            assertThat(servers)
                    .allSatisfy(server -> assertThat(server.region().memory().get(ValueLayout.JAVA_LONG, 0))
                            .isEqualTo(QUEUES / PEERS));
        }
    }

    private static AgentOptions seldomRenewing(AgentOptions options) {
        return options.withTimes(Duration.ofMinutes(10), options.lanes().validity())
                .withLanes(1);
    }

    @Test
    void shouldTake4KiBAnIdleQueueAtMost() throws Exception {
        try (Hosts hosts = new Hosts(4)) {
            Agent server = hosts.agent("server");
            Tenant tenant = hosts.agent("client", options -> options.withQuota(50_000, 8))
                    .admit("t");
            tenant.connect(server.host());
            VirtualQueue[] queues = new VirtualQueue[20_000];
            long before = usedHeap();
            for (int i = 0; i < queues.length; i++) {
                queues[i] = tenant.connect(server.host());
            }
            long each = (usedHeap() - before) / queues.length;
            // All of it is heap: a virtual queue has no native memory of its own.
            assertThat(each).isBetween(100L, 4096L);
            assertThat(queues[queues.length - 1].host()).isEqualTo(server.host());
        }
    }

    private static long usedHeap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
