package dev.rackcall.cp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Devices;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the page on the control plane shows. */
class ControlPlanePageTest {
    @TempDir
    private Path folder;

    private final WorkRequest request = WorkRequest.create(1, 64);
    private final Completions batch = Completions.create(16);
    private final Arrivals arrivals = Arrivals.create(16);

    /** An agent serves also while its meta server does not answer. */
    private static void awaitRegistration(Agent agent) {
        Await.until("the registration", () -> agent.registrationProblem().isEmpty());
    }

    @Test
    void shouldReadAndSendThroughAVirtualQueue() {
        MemorySegment memory = Arena.ofAuto().allocate(4096, 64);
        MetaServer meta = MetaServer.open(Devices.find("soft:meta"), 10_000); // one in a cluster
        Agent agent = Agent.open(
                Devices.find("soft:a"), AgentOptions.of(HostId.named("a")).withMeta(meta::address));
        Tenant tenant = agent.admit("orders");
        try (Agent other = Agent.open(
                        Devices.find("soft:b"),
                        AgentOptions.of(HostId.named("b")).withMeta(meta::address));
                Tenant peer = other.admit("orders")) {
            awaitRegistration(other);
            MemoryRegion peers = Hosts.region(peer, 4096);
            peers.memory().set(ValueLayout.JAVA_LONG, 0, 0xC0FFEE);
            long peerAddress = peers.address();
            int peerKey = peers.remoteKey();

            MemoryRegion region = tenant.register(memory, EnumSet.of(Access.LOCAL_WRITE));
            VirtualQueue queue = tenant.connect(HostId.named("b"));
            queue.push(request.read(peerAddress, peerKey)
                    .from(region, 0, 4096)
                    .id(7)
                    .signaled());
            Await.until("the completion", () -> queue.pop(batch) == 1);
            assertThat(batch.id(0)).isEqualTo(7);
            assertThat(batch.isSuccess(0)).isTrue();
            assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0xC0FFEE);

            MessagePort port = peer.bind(7); // at the receiver
            port.give(peers, 0, 4096, 5); // memory for one message
            queue.push(request.sendWithImmediate(7).from(region, 0, 100).signaled()); // at the sender
            Await.until("the message", () -> port.receive(arrivals) == 1);
            assertThat(arrivals.id(0)).isEqualTo(5);
            assertThat(arrivals.bytes(0)).isEqualTo(100);
            assertThat(arrivals.host(0)).isEqualTo(HostId.named("a"));
        } finally {
            tenant.close();
            agent.close();
            meta.close();
        }
    }

    @Test
    void shouldOpenAnAgentOfItsOwn() {
        Device device = Devices.find("soft:a");
        try (MetaServer meta = MetaServer.open(Devices.find("soft:meta"), 16);
                Agent other = Agent.open(
                        Devices.find("soft:b"),
                        AgentOptions.of(HostId.named("b")).withMeta(meta::address))) {
            awaitRegistration(other);
            AgentOptions options = AgentOptions.of(HostId.named("a")).withMeta(meta::address);
            Tenant tenant = AgentFolder.join(folder, "orders", () -> Agent.open(device, options));
            // Or share(file): the agent process and this one both map the file.
            MemoryRegion region = tenant.allocate(1 << 20, EnumSet.of(Access.LOCAL_WRITE));
            VirtualQueue queue = tenant.connect(HostId.named("b"));
            assertThat(region.memory().byteSize()).isEqualTo(1 << 20);
            assertThat(queue.failure()).isEmpty();
            tenant.close();
            assertThat(other.host()).isEqualTo(HostId.named("b"));
        }
    }
}
