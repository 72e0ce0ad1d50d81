package dev.rackcall.cp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.control.ControlPort;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.cp.control.HostLife;
import dev.rackcall.cp.lane.QueueLanes;
import dev.rackcall.cp.meta.MetaClient;
import dev.rackcall.cp.table.HostRecord;
import dev.rackcall.cp.table.TableLocation;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * The same tests on devices without dynamically connected queue pairs, and tests of the queue pair that each peer has
 * there.
 */
class ConnectedQueueTest extends VirtualQueueTest {
    @Override
    protected Hosts newHosts() {
        return new Hosts(16, PlainDevice::of);
    }

    private static void works(Tenant tenant, HostId host, MemoryRegion theirs) {
        MemoryRegion ours = Hosts.region(tenant, 64);
        VirtualQueue queue = tenant.connect(host);
        Hosts.does(queue, Hosts.write(theirs, ours, 1));
    }

    /** Looks up a host; the first lookup connects a queue pair to the meta server. */
    private static void lookUp(Agent agent) {
        assertThatThrownBy(() -> agent.admit("curious").connect(HostId.named("nobody")))
                .hasMessageContaining("does not know");
    }

    @Test
    void shouldReadTheMetaTableAndUseTheQueuePairThatIsThere() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        Agent server = hosts().agent("server");
        Agent client = hosts().agent(
                        "client",
                        options -> Hosts.neverRenewing(options).withMeta(() -> {
                            asked.incrementAndGet();
                            return hosts().meta().address();
                        }));
        MemoryRegion theirs = Hosts.region(server.admit("t"), 64);
        Tenant tenant = client.admit("t");
        works(tenant, server.host(), theirs);
        VirtualQueue first = tenant.connect(server.host());
        int before = asked.get();
        client.forget(server.host());
        VirtualQueue second = tenant.connect(server.host());
        assertThat(QueueLanes.lane(second)).as("while others use it").isSameAs(QueueLanes.lane(first));
        first.close();
        second.close();
        client.forget(server.host());
        VirtualQueue third = tenant.connect(server.host());
        assertThat(QueueLanes.lane(third)).as("also without other users").isSameAs(QueueLanes.lane(first));
        assertThat(asked.get()).as("one-sided, without a message").isEqualTo(before);
        works(tenant, server.host(), theirs);
    }

    /** Connecting does not wait: the queue pair is connected in the background. */
    @Test
    void shouldConnectBeforeThePeerHasAnswered() throws Exception {
        CountDownLatch mayAnswer = new CountDownLatch(1);
        try (Hosts hosts = new Hosts(16, PlainDevice::of)) {
            HostDevice end = hosts.keep(new HostDevice(PlainDevice.of(Hosts.device("slow"))));
            AtomicInteger answered = new AtomicInteger();
            ControlPort port = new ControlPort(
                    end,
                    "slow",
                    (operation, sender, body) -> {
                        Await.latch(mayAnswer);
                        answered.incrementAndGet();
                        throw new ControlPlaneException(Kind.REFUSED, "not here");
                    },
                    () -> {});
            port.start();
            HostId slow = HostId.named("slow");
            HostRecord record = new HostRecord(
                    end.gid(), HostRecord.NO_TARGET, 0, port.address().number(), new TableLocation(4096, 1, 1, 5));
            try (MetaClient registrar = new MetaClient(
                    end,
                    port,
                    Optional.empty(),
                    new HostLife(slow, 5),
                    () -> hosts.meta().address())) {
                registrar.register(slow, record);
            }
            Tenant tenant = hosts.agent("client").admit("t");
            MemoryRegion ours = Hosts.region(tenant, 64);
            VirtualQueue queue = tenant.connect(slow);
            assertThat(queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
            assertThat(answered).hasValue(0);

            mayAnswer.countDown();
            queue.push(WorkRequest.create(1, 0).read(4096, 7).from(ours, 0, 8).id(1));
            assertThat(Hosts.pop(queue, 1)).containsExactly(new Hosts.Done(1, CompletionStatus.RETRY_EXCEEDED));
        } finally {
            mayAnswer.countDown();
        }
    }

    @Test
    void shouldCloseTheQueuePairToAHostWhenTold() throws Exception {
        Agent server = hosts().agent("server");
        Agent client = hosts().agent("client");
        MemoryRegion theirs = Hosts.region(server.admit("t"), 64);
        lookUp(client);
        int before = client.queuePairs();
        Tenant tenant = client.admit("t");
        try (VirtualQueue used = tenant.connect(server.host())) {
            client.disconnect(server.host());
            assertThat(used.failure()).isEmpty();
            assertThat(client.queuePairs()).as("a virtual queue uses it").isEqualTo(before + 1);
        }
        client.disconnect(server.host());
        assertThat(client.queuePairs()).isEqualTo(before);
        works(tenant, server.host(), theirs);
    }

    @Test
    void shouldFindTheNewLifeOfAForgottenHost() throws Exception {
        Agent server = hosts().agent("server");
        Agent client = hosts().agent("client");
        Tenant tenant = client.admit("t");
        VirtualQueue former = tenant.connect(server.host());
        hosts().drop(server);
        Agent again = hosts().agent("server");
        client.forget(again.host());
        assertThat(tenant.connect(again.host()).epoch())
                .isEqualTo(again.epoch())
                .isNotEqualTo(former.epoch());
        works(tenant, again.host(), Hosts.region(again.admit("t"), 64));
    }

    @Test
    void shouldAskAMetaServerThatTakesNoConnectionOfThisHost() throws Exception {
        try (Hosts hosts = new Hosts(16, PlainDevice::of, Hosts.SHORT_LEASE)) {
            Agent client = hosts.agent("client", Hosts::neverRenewing);
            Hosts.waitUntil("the lease to end", () -> hosts.meta().hosts() == 0);
            Agent server = hosts.agent("server");
            int before = client.queuePairs();
            VirtualQueue queue = client.admit("t").connect(server.host());
            assertThat(queue.epoch()).isEqualTo(server.epoch());
            assertThat(client.queuePairs()).as("none to the meta server").isEqualTo(before + 1);
        }
    }

    @Test
    void shouldShareOneQueuePairAPeer() throws Exception {
        Agent server = hosts().agent("server");
        MemoryRegion theirs = Hosts.region(server.admit("t"), 64);
        Agent client = hosts().agent("client");
        lookUp(client);
        lookUp(server);
        int before = client.queuePairs();
        int beforeThere = server.queuePairs();
        for (int i = 0; i < 100; i++) {
            Tenant tenant = client.admit("tenant " + i);
            works(tenant, server.host(), theirs);
            assertThat(tenant.connect(server.host()).failure()).isEmpty();
        }
        assertThat(client.queuePairs()).isEqualTo(before + 1);
        Hosts.waitUntil("the server's end", () -> server.queuePairs() == beforeThere + 1);
        hosts().drop(client);
        Hosts.waitUntil("the server to close its end", () -> server.queuePairs() == beforeThere);
    }

    @Test
    void shouldLetGoOfConnectionsOfTheDead() throws Exception {
        try (Hosts mortals = new Hosts(16, PlainDevice::of, Hosts.SHORT_LEASE)) {
            Agent server = mortals.agent("server");
            MemoryRegion theirs = Hosts.region(server.admit("t"), 64);
            lookUp(server);
            int before = server.queuePairs();
            // It never renews, so it counts as dead after its lease.
            Agent client = mortals.agent("c", Hosts::neverRenewing);
            works(client.admit("t"), server.host(), theirs);
            Hosts.waitUntil("the server's end", () -> server.queuePairs() == before + 1);
            Hosts.waitUntil("the lease to end and the server to check", () -> server.queuePairs() <= before);
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
        assertThat(dynamic.queuePairs())
                .as("eleven of its own, one each way, one to read the meta table")
                .isEqualTo(14);
    }
}
