package dev.rackcall.cp.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Hosts that find each other, leave, and restart. */
class AgentTest {
    private Hosts hosts = newHosts(Hosts.LONG_LEASE);

    /** The hosts, on the kind of devices to test. */
    Hosts newHosts(Duration lease) {
        return new Hosts(16, device -> device, lease);
    }

    @AfterEach
    void close() throws Exception {
        hosts.close();
    }

    @Test
    void shouldConnectByMetaServerAndThenByCache() throws Exception {
        Agent b = hosts.agent("b");
        Agent a = hosts.agent("a");
        Tenant tenant = a.admit("t");
        assertThat(a.knownHosts()).isZero();
        VirtualQueue first = tenant.connect(b.host());
        assertThat(first.epoch()).isEqualTo(b.epoch());
        assertThat(a.knownHosts()).isEqualTo(1);
        hosts.drop(hosts.meta());
        assertThat(tenant.connect(b.host()).state()).isEqualTo(QueuePairState.READY_TO_SEND);
        a.forget(b.host());
        assertThat(a.knownHosts()).isZero();
    }

    @Test
    void shouldSayThatAHostIsUnknown() {
        Tenant tenant = hosts.agent("a").admit("t");
        Hosts.fails(
                Kind.UNKNOWN_HOST,
                "the meta server does not know host nobody (",
                () -> tenant.connect(HostId.named("nobody")));
        Agent alone = hosts.keep(Agent.open(Hosts.device("alone"), AgentOptions.of(HostId.named("alone"))));
        Hosts.fails(
                Kind.UNKNOWN_HOST,
                "there is no meta server",
                () -> alone.admit("t").connect(HostId.named("a")));
    }

    @Test
    void shouldAskTheHostItselfWithoutAMetaServer() {
        Agent b = hosts.keep(Agent.open(Hosts.device("b"), AgentOptions.of(HostId.named("b"))));
        Agent a = hosts.keep(Agent.open(Hosts.device("a"), AgentOptions.of(HostId.named("a"))));
        Tenant tenant = a.admit("t");
        assertThat(tenant.connect(b.host(), b.address()).epoch()).isEqualTo(b.epoch());
        ControlAddress address = ControlAddress.parse(b.address().toString());
        Hosts.fails(Kind.REFUSED, "this is host", () -> tenant.connect(HostId.named("c"), address));
        assertThat(tenant.connect(b.host()).epoch()).as("from the cache").isEqualTo(b.epoch());
    }

    @Test
    void shouldAskTheHostItselfWhileTheMetaServerIsAway() {
        Agent b = hosts.agent("b");
        Agent a = hosts.agent(
                "a",
                options -> options.withMeta(() -> {
                    throw new ControlPlaneException(Kind.UNREACHABLE, "the directory names no meta server");
                }));
        assertThat(a.registrationProblem()).hasValue("the directory names no meta server");
        Tenant tenant = a.admit("t");
        Hosts.fails(Kind.UNREACHABLE, "names no meta server", () -> tenant.connect(b.host()));
        assertThat(tenant.connect(b.host(), b.address()).epoch()).isEqualTo(b.epoch());
    }

    @Test
    void shouldSayThatAHostDoesNotAnswer() throws Exception {
        Agent b = hosts.agent("b");
        ControlAddress address = b.address();
        hosts.drop(b);
        Tenant tenant = hosts.agent("a").admit("t");
        Hosts.fails(Kind.UNREACHABLE, "has not answered within", () -> tenant.connect(HostId.named("c"), address));
    }

    @Test
    void shouldRegisterAgainWithAMetaServerThatHasRestarted() throws Exception {
        Agent b = hosts.agent("b");
        Agent a = hosts.agent("a");
        Tenant tenant = a.admit("t");
        tenant.connect(b.host());
        hosts.restartMeta(16);
        Hosts.waitUntil("both hosts registered again", () -> hosts.meta().hosts() == 2);
        a.forget(b.host());
        assertThat(tenant.connect(b.host()).epoch()).isEqualTo(b.epoch());
        // The agent learns of its registration a moment after the meta server.
        Hosts.waitUntil(
                "it to learn of its registration", () -> a.registrationProblem().isEmpty());
    }

    @Test
    void shouldNotBelieveAFormerMetaServerThatWasWrong() throws Exception {
        Agent b = hosts.agent("b");
        Agent a = hosts.agent("a");
        Tenant tenant = a.admit("t");
        VirtualQueue former = tenant.connect(b.host());
        hosts.replaceMeta(16);
        Hosts.waitUntil(
                "both hosts registered with the other one", () -> hosts.meta().hosts() == 2);
        hosts.drop(b);
        Agent again = hosts.agent("b");
        MemoryRegion ours = Hosts.region(tenant, 64);
        MemoryRegion theirs = Hosts.region(again.admit("t"), 64);
        former.push(Hosts.write(theirs, ours, 1));
        assertThat(Hosts.pop(former, 1).getFirst().status()).isNotEqualTo(CompletionStatus.SUCCESS);
        assertThat(tenant.connect(b.host()).epoch())
                .as("the life that only the second meta server knows")
                .isEqualTo(again.epoch());
    }

    @Test
    void shouldForgetHostsThatLeaveOrDie() throws Exception {
        hosts.agent("a");
        Agent b = hosts.agent("b");
        assertThat(hosts.meta().hosts()).isEqualTo(2);
        hosts.drop(b);
        // Long before its lease ends.
        Hosts.waitUntil("b has left", () -> hosts.meta().hosts() == 1);
        hosts.close();
        hosts = newHosts(Hosts.SHORT_LEASE);
        Agent a = hosts.agent("a");
        // A host that registers and never renews, like a dead one.
        hosts.agent("c", Hosts::neverRenewing);
        assertThat(hosts.meta().hosts()).isEqualTo(2);
        Hosts.waitUntil("the lease of c to end", () -> hosts.meta().hosts() == 1);
        Hosts.waitUntil(
                "a to be registered still", () -> a.registrationProblem().isEmpty());
    }

    @Test
    void shouldFindTheNewLifeOfAHost() throws Exception {
        Agent b = hosts.agent("b");
        Agent a = hosts.agent("a");
        Tenant tenant = a.admit("t");
        MemoryRegion theirs = Hosts.region(b.admit("t"), 64);
        MemoryRegion ours = Hosts.region(tenant, 64);
        WorkRequest request = Hosts.write(theirs, ours, 1);
        VirtualQueue former = tenant.connect(b.host());
        Hosts.does(former, request);
        hosts.drop(b);
        Agent again = hosts.agent("b");
        former.push(request);
        assertThat(Hosts.pop(former, 1).getFirst().status()).isNotEqualTo(CompletionStatus.SUCCESS);
        assertThat(former.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(former.failure()).isPresent();
        Hosts.fails(Kind.QUEUE_FAILED, "connect again", () -> former.push(request));
        VirtualQueue now = tenant.connect(b.host());
        assertThat(now.epoch()).isEqualTo(again.epoch()).isNotEqualTo(former.epoch());
        MemoryRegion fresh = Hosts.region(again.admit("t"), 64);
        Hosts.does(now, Hosts.write(fresh, ours, 2));
    }

    @Test
    void shouldRefuseASecondAgentsHostOnceItRenews() {
        Agent first = hosts.agent("a");
        hosts.agent("a");
        Hosts.waitUntil(
                "the first to be told", () -> first.registrationProblem().isPresent());
        assertThat(first.registrationProblem().orElseThrow())
                .contains("host a (", ") has been registered by another agent since");
    }

    @Test
    void shouldSayThatTheMetaTableIsFull() throws Exception {
        hosts.restartMeta(1);
        hosts.agent("a");
        Hosts.fails(Kind.REFUSED, "the meta table is full: all 1 places", () -> hosts.agent("b"));
    }

    @Test
    void shouldKeepTenantsWithinTheirQuota() {
        Agent b = hosts.agent("b");
        Agent a = hosts.agent("a", options -> options.withQuota(2, 1));
        Tenant tenant = a.admit("small");
        VirtualQueue queue = tenant.connect(b.host());
        tenant.connect(b.host());
        Hosts.fails(Kind.QUOTA_EXCEEDED, "tenant small has 2 virtual queues", () -> tenant.connect(b.host()));
        a.admit("other").connect(b.host());
        queue.close();
        tenant.connect(b.host());
        Hosts.region(tenant, 64);
        Hosts.fails(Kind.QUOTA_EXCEEDED, "memory regions", () -> Hosts.region(tenant, 64));
        tenant.close();
        Hosts.fails(Kind.QUEUE_FAILED, "closed", () -> tenant.connect(b.host()));
    }

    @Test
    void shouldReadItsAddressBack() {
        ControlAddress address = hosts.meta().address();
        assertThat(ControlAddress.parse(address.toString())).isEqualTo(address);
        assertThatThrownBy(() -> ControlAddress.parse("nonsense")).hasMessageContaining("GID/NUMBER");
    }
}
