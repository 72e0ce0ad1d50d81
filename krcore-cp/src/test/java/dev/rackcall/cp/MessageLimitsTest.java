package dev.rackcall.cp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.WorkRequest;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What one tenant's or host's messages and queues leave to others. */
class MessageLimitsTest {
    private static final int PORT = 7;

    private final Hosts hosts = new Hosts(16);
    private final WorkRequest request = WorkRequest.create(1, 0);

    @AfterEach
    void close() throws Exception {
        hosts.close();
    }

    private static Peer peer(VirtualQueue queue) {
        return ((LocalQueue) queue).peer();
    }

    private void send(VirtualQueue queue, MemoryRegion from, int length, long id) {
        assertThat(queue.push(request.sendWithImmediate(PORT)
                        .from(from, 0, length)
                        .id(id)
                        .signaled()))
                .isTrue();
    }

    @Test
    void shouldLeaveSlotsToOtherTenantsAndToTheAgent() {
        DeviceEnd end = hosts.keep(new DeviceEnd(Hosts.device("slots")));
        MessageSlots slots = new MessageSlots(end, 256);
        int greedy = 0;
        int last = -1;
        for (int slot = slots.claim(1); slot >= 0; slot = slots.claim(1)) {
            last = slot;
            greedy++;
        }
        assertThat(greedy).isEqualTo(96);
        int others = 0;
        for (long tenant = 2; tenant < 300; tenant++) {
            for (int slot = slots.claim(tenant); slot >= 0; slot = slots.claim(tenant)) {
                others++;
            }
        }
        assertThat(greedy + others).as("some are the agent's").isEqualTo(192);
        for (int i = 0; i < 64; i++) {
            assertThat(slots.claim(MessageSlots.AGENT)).isNotNegative();
        }
        assertThat(slots.claim(MessageSlots.AGENT)).isNegative();
        slots.free(last);
        assertThat(slots.claim(MessageSlots.AGENT)).isEqualTo(last);
    }

    @Test
    void shouldAnswerMoreHostsThanATenantMayHaveQueues() {
        Agent receiver = hosts.agent("receiver", options -> options.withQuota(1, 8));
        Tenant tenant = receiver.admit("t");
        MemoryRegion incoming = Hosts.region(tenant, 64);
        MessagePort port = tenant.bind(PORT);
        for (int i = 0; i < 3; i++) {
            Tenant sender = hosts.agent("sender-" + i).admit("t");
            MemoryRegion outgoing = Hosts.region(sender, 64);
            VirtualQueue queue = sender.connect(receiver.host());
            port.give(incoming, 0, 64, i);
            send(queue, outgoing, 8, i);
            assertThat(Hosts.pop(queue, 1)).containsExactly(new Hosts.Done(i, CompletionStatus.SUCCESS));
        }
    }

    @Test
    void shouldNotDoubtAHostForAMessageOfItsFormerLife() throws Exception {
        Agent receiver = hosts.agent("receiver");
        Tenant tenant = receiver.admit("t");
        MemoryRegion incoming = Hosts.region(tenant, 4096);
        MessagePort port = tenant.bind(PORT);
        Agent former = hosts.agent("sender");
        Tenant old = former.admit("t");
        MemoryRegion gone = Hosts.region(old, 4096);
        VirtualQueue queue = old.connect(receiver.host());
        send(queue, gone, 8, 1);
        send(queue, gone, 4096, 2);
        // In the order in which they were sent: when the second has come, so has the first.
        Hosts.waitUntil("the messages", () -> ((LocalPort) port).waiting() == 2);
        hosts.drop(former);

        Agent current = hosts.agent("sender");
        receiver.forget(current.host());
        VirtualQueue fresh = tenant.connect(current.host());
        Peer known = peer(fresh);
        assertThat(known.record().epoch()).isEqualTo(current.epoch());
        port.give(incoming, 0, 4096, 1);
        port.give(incoming, 0, 4096, 2);
        Hosts.waitUntil("both to be settled", () -> {
            port.receive(Arrivals.create(2));
            return ((LocalPort) port).waiting() == 0;
        });
        assertThat(peer(tenant.connect(current.host()))).isSameAs(known);
    }

    @Test
    void shouldNotKeepWhatARefusedQueueHadOfALane() {
        Agent server = hosts.agent("server");
        Agent client = hosts.agent("client", options -> options.withQuota(1, 8).withLanes(1));
        Tenant tenant = client.admit("t");
        VirtualQueue queue = tenant.connect(server.host());
        Lane lane = peer(queue).lane();
        assertThatThrownBy(() -> tenant.connect(server.host())).isInstanceOf(ControlPlaneException.class);
        assertThat(lane.tenants()).isEqualTo(1);
        queue.close();
        assertThat(lane.tenants()).isZero();
    }

    @Test
    void shouldForgetAQueueThatIsClosedWhileItSends() {
        Agent server = hosts.agent("server");
        Agent client = hosts.agent("client");
        LocalQueue queue = (LocalQueue) client.admit("t").connect(server.host());
        client.messages().expect(queue);
        assertThat(client.messages().senders()).isEqualTo(1);
        queue.close();
        assertThat(client.messages().senders()).isZero();
        // As if the thread that sends had come a little later.
        client.messages().expect(queue);
        assertThat(client.messages().senders()).isZero();
    }

    @Test
    void shouldGoOnAfterAMessageThatCannotBeTaken() {
        Agent receiver = hosts.agent("receiver");
        LocalTenant tenant = receiver.admitHere("t");
        MemoryRegion incoming = Hosts.region(tenant, 64);
        LocalPort broken = tenant.bind(PORT + 1, () -> {
            throw new IllegalStateException("on purpose");
        });
        broken.give(incoming, 0, 64, 1);
        MessagePort port = tenant.bind(PORT);
        port.give(incoming, 0, 64, 2);
        Tenant sender = hosts.agent("sender").admit("t");
        MemoryRegion outgoing = Hosts.region(sender, 64);
        VirtualQueue queue = sender.connect(receiver.host());
        queue.push(request.sendWithImmediate(PORT + 1).from(outgoing, 0, 8).id(1));
        send(queue, outgoing, 8, 2);
        assertThat(Hosts.pop(queue, 1)).containsExactly(new Hosts.Done(2, CompletionStatus.SUCCESS));
    }

    /** Its memory may belong to somebody else when the queue pair is there at last. */
    @Test
    void shouldNotPostWhatAClosedQueueHasLeftWaitingForAQueuePair() {
        Agent server = hosts.agent("server");
        Tenant tenant = hosts.agent("client").admit("t");
        MemoryRegion theirs = Hosts.region(server.admit("t"), 64);
        MemoryRegion ours = Hosts.region(tenant, 64);
        AtomicInteger posted = new AtomicInteger();
        QueuePair queuePair = (QueuePair) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {QueuePair.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("postSend")) {
                        posted.incrementAndGet();
                        return true;
                    }
                    return 77;
                });
        LaneLink link = new LaneLink() {
            @Override
            public QueuePair queuePair() {
                return queuePair;
            }

            @Override
            public void address(WorkRequest message, Peer peer) {
                // It leads nowhere.
            }

            @Override
            public void restart(Lane lane) {
                throw new IllegalStateException("nothing fails here");
            }
        };
        DeviceEnd end = hosts.keep(new DeviceEnd(Hosts.device("lane")));
        Lane lane = new Lane(link, new LaneCompletions(end.polledQueue(16)), 8, peer -> {});
        VirtualQueue closed = tenant.connect(server.host());
        VirtualQueue open = tenant.connect(server.host());
        peer(closed).prefer(Optional.of(lane));
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
        assertThat(((LocalTenant) tenant).held()).isEqualTo(1);
        peer(open).prefer(Optional.empty());
        lane.fail(peer(open));
        assertThat(((LocalTenant) tenant).held()).isZero();
    }
}
