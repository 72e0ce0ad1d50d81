package dev.rackcall.cp.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentInsides;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.cp.request.PeerHost;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.WorkRequest;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A lane by itself. */
class LaneTest {
    @RegisterExtension
    final Hosts hosts = new Hosts(16);

    private final WorkRequest request = WorkRequest.create(1, 0);

    @Test
    void shouldNotKeepWhatARefusedQueueHadOfALane() {
        Agent server = hosts.agent("server");
        Agent client = hosts.agent("client", options -> options.withQuota(1, 8).withLanes(1));
        Tenant tenant = client.admit("t");
        VirtualQueue queue = tenant.connect(server.host());
        Lane lane = QueueLanes.peer(queue).lane();
        assertThatThrownBy(() -> tenant.connect(server.host())).isInstanceOf(ControlPlaneException.class);
        assertThat(lane.tenants()).isEqualTo(1);
        queue.close();
        assertThat(lane.tenants()).isZero();
    }

    /** The closed queue's memory may be in other use when the queue pair is connected. */
    @Test
    void shouldNotPostWhatAClosedQueueHasLeftWaitingForAQueuePair() {
        Agent server = hosts.agent("server");
        Tenant tenant = hosts.agent("client").admit("t");
        MemoryRegion theirs = Hosts.region(server.admit("t"), 64);
        MemoryRegion ours = Hosts.region(tenant, 64);
        AtomicInteger posted = new AtomicInteger();
        QueuePair queuePair = (QueuePair) Proxy.newProxyInstance(
                LaneTest.class.getClassLoader(), new Class<?>[] {QueuePair.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("postSend")) {
                        posted.incrementAndGet();
                        return true;
                    }
                    return 77;
                });
        LaneQueuePair link = new LaneQueuePair() {
            @Override
            public QueuePair queuePair() {
                return queuePair;
            }

            @Override
            public void address(WorkRequest message, PeerHost peer) {
                // This queue pair has no peer.
            }

            @Override
            public void restart(Lane lane) {
                throw new IllegalStateException("nothing fails here");
            }
        };
        HostDevice end = hosts.keep(new HostDevice(Hosts.device("lane")));
        Lane lane = new Lane(link, new LaneCompletions(end.polledQueue(16)), 8, peer -> {});
        VirtualQueue closed = tenant.connect(server.host());
        VirtualQueue open = tenant.connect(server.host());
        QueueLanes.peer(closed).prefer(Optional.of(lane));
        for (VirtualQueue queue : new VirtualQueue[] {closed, open}) {
            assertThat(queue.push(request.write(theirs.address(), theirs.remoteKey())
                            .from(ours, 0, 8)
                            .id(1)))
                    .isTrue();
        }
        assertThat(posted).hasValue(0);
        closed.close();
        lane.resume();
        assertThat(posted).hasValue(1);
        assertThat(AgentInsides.held(tenant)).isEqualTo(1);
        QueueLanes.peer(open).prefer(Optional.empty());
        lane.fail(QueueLanes.peer(open));
        assertThat(AgentInsides.held(tenant)).isZero();
    }
}
