package dev.rackcall.cp.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.Arrivals;
import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.MessagePort;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.cp.lane.LanePeer;
import dev.rackcall.cp.lane.QueueLanes;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.WorkRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Limits that keep one tenant or host from blocking the messages and queues of others. */
class MessageLimitsTest {
    private static final int PORT = 7;

    @RegisterExtension
    final Hosts hosts = new Hosts(16);

    private final WorkRequest request = WorkRequest.create(1, 0);

    private void send(VirtualQueue queue, MemoryRegion from, int length, long id) {
        assertThat(queue.push(request.sendWithImmediate(PORT)
                        .from(from, 0, length)
                        .id(id)
                        .signaled()))
                .isTrue();
    }

    @Test
    void shouldLeaveSlotsToOtherTenantsAndToTheAgent() {
        HostDevice end = hosts.keep(new HostDevice(Hosts.device("slots")));
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
            Hosts.succeeds(queue, i);
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
        // Messages arrive in order: when the second is here, so is the first.
        Hosts.waitUntil("the messages", () -> ((LocalPort) port).waiting() == 2);
        hosts.drop(former);

        Agent current = hosts.agent("sender");
        receiver.forget(current.host());
        VirtualQueue fresh = tenant.connect(current.host());
        LanePeer known = QueueLanes.peer(fresh);
        assertThat(known.record().epoch()).isEqualTo(current.epoch());
        port.give(incoming, 0, 4096, 1);
        port.give(incoming, 0, 4096, 2);
        Hosts.waitUntil("both to be settled", () -> {
            port.receive(Arrivals.create(2));
            return ((LocalPort) port).waiting() == 0;
        });
        assertThat(QueueLanes.peer(tenant.connect(current.host()))).isSameAs(known);
    }

    @Test
    void shouldForgetAQueueThatIsClosedWhileItSends() {
        Agent server = hosts.agent("server");
        Agent client = hosts.agent("client");
        LocalQueue queue = client.admit("t").connect(server.host());
        client.messages().expect(queue);
        assertThat(client.messages().senders()).isEqualTo(1);
        queue.close();
        assertThat(client.messages().senders()).isZero();
        // As if the sending thread were a little later.
        client.messages().expect(queue);
        assertThat(client.messages().senders()).isZero();
    }

    @Test
    void shouldGoOnAfterAMessageThatCannotBeTaken() {
        Agent receiver = hosts.agent("receiver");
        LocalTenant tenant = receiver.admit("t");
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
        Hosts.succeeds(queue, 2);
    }
}
