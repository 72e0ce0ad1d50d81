package dev.rackcall.cp.lane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.verbs.MemoryRegion;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SharedLanesTest {
    @Test
    void shouldSpreadPeersOverLanesAndKeepEachOnItsOwn() throws Exception {
        try (Hosts hosts = new Hosts(16)) {
            List<Agent> servers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                servers.add(hosts.agent("server-" + i));
            }
            Agent client = hosts.agent("client", options -> options.withLanes(2));
            Tenant tenant = client.admit("t");
            MemoryRegion ours = Hosts.region(tenant, 64);
            List<VirtualQueue> queues = new ArrayList<>();
            for (Agent server : servers) {
                queues.add(tenant.connect(server.host()));
            }
            assertThat(queues).map(QueueLanes::lane).doesNotContainNull();
            assertThat(queues.stream().map(QueueLanes::lane).distinct()).hasSize(2);
            assertThat(queues.stream().filter(queue -> QueueLanes.lane(queue) == QueueLanes.lane(queues.getFirst())))
                    .as("peers of the first lane")
                    .hasSize(2);
            assertThat(QueueLanes.lane(tenant.connect(servers.getFirst().host())))
                    .isSameAs(QueueLanes.lane(queues.getFirst()));

            for (int i = 0; i < servers.size(); i++) {
                MemoryRegion theirs = Hosts.region(servers.get(i).admit("t"), 64);
                assertThat(queues.get(i).push(Hosts.write(theirs, ours, i))).isTrue();
            }
            // Polling one lane takes the completions of all.
            for (int i = 0; i < servers.size(); i++) {
                Hosts.succeeds(queues.get(i), i);
            }
        }
    }

    @Test
    void shouldGiveTheNextPeerTheLaneThatAnotherHasLeft() throws Exception {
        try (Hosts hosts = new Hosts(16)) {
            Agent first = hosts.agent("first");
            Agent second = hosts.agent("second");
            Agent third = hosts.agent("third");
            Agent client = hosts.agent("client", options -> options.withLanes(2));
            Tenant tenant = client.admit("t");
            VirtualQueue brief = tenant.connect(first.host());
            Lane left = QueueLanes.lane(brief);
            VirtualQueue other = tenant.connect(second.host());
            assertThat(QueueLanes.lane(other)).isNotSameAs(left);
            brief.close();
            client.forget(first.host());
            assertThat(QueueLanes.lane(tenant.connect(third.host()))).isSameAs(left);
        }
    }
}
