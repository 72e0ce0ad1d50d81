package dev.rackcall.cp.meta;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.QueuePairState;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Agents that find a meta server through a directory, and its successors. */
class MetaDirectoryTest {
    private static final Duration SOON = Await.BOUND;
    private static final String GID = "fd72:6b00:0001:0002:0003:0004:7f00:0001";
    private static final Duration OFTEN = Duration.ofMillis(100);

    @TempDir
    private Path folder;

    private Directory directory;
    private MetaDirectory names;

    @BeforeEach
    void open() {
        directory = Directory.open(folder.toUri());
        names = MetaDirectory.follow(directory);
    }

    @AfterEach
    void close() {
        names.close();
        directory.close();
    }

    private static MetaServer meta(String name) {
        return MetaServer.open(Hosts.device(name), 16, Hosts.LONG_LEASE);
    }

    private Agent agent(String name) {
        return Agent.open(
                Hosts.device(name),
                AgentOptions.of(HostId.named(name)).withMeta(names).withTimes(OFTEN, OFTEN));
    }

    @Test
    void shouldSayThatNoneIsNamed() {
        assertThat(names.current()).isEmpty();
        assertThrown(
                ControlPlaneException.class,
                names::get,
                "the directory names no meta server (/rackcall/meta); start one");
    }

    @Test
    void shouldLeadAgentsToTheMetaServersNextLife() throws Exception {
        ControlAddress first;
        try (Agent a = agent("a");
                Agent b = agent("b")) {
            assertThat(a.registrationProblem().orElseThrow()).contains("names no meta server");
            Tenant tenant = a.admit("t");
            try (MetaServer meta = meta("meta");
                    MetaDirectory naming = MetaDirectory.follow(directory)) {
                first = meta.address();
                naming.announce(first, "a");
                Hosts.waitUntil("both hosts are registered", () -> meta.hosts() == 2);
                tenant.connect(b.host());
            }
            try (MetaServer meta = meta("meta");
                    MetaDirectory naming = MetaDirectory.follow(directory)) {
                naming.announce(meta.address(), "a");
                assertThat(naming.problem()).isEmpty();
                Hosts.waitUntil("both hosts are registered again", () -> meta.hosts() == 2);
                assertThat(names.get()).isEqualTo(meta.address()).isNotEqualTo(first);
                a.forget(b.host());
                assertThat(tenant.connect(b.host()).epoch()).isEqualTo(b.epoch());
            }
        }
    }

    /** If a former meta server lacks a host, agents ask the named one, although the former one still replies. */
    @Test
    void shouldNameOneAtATimeAndTheOtherOneWhenThatIsGone() throws Exception {
        try (MetaServer first = meta("first");
                MetaServer second = meta("second");
                Directory elsewhere = Directory.open(folder.toUri());
                MetaDirectory waiting = MetaDirectory.follow(elsewhere)) {
            try (MetaDirectory naming = MetaDirectory.follow(directory)) {
                naming.announce(first.address(), "a");
                waiting.announce(second.address(), "b");
                assertThat(waiting.problem().orElseThrow())
                        .contains("the directory names the one on a; this one follows when that has ended");
                assertThat(names.await(SOON)).contains(first.address());
                try (Agent a = agent("a")) {
                    Tenant tenant = a.admit("t");
                    tenant.connect(HostId.named("a"));
                    try (Agent b = agent("b")) {
                        naming.close();
                        Hosts.waitUntil("both hosts are registered there", () -> second.hosts() == 2);
                        // This host is only in the second table.
                        try (Agent c = agent("c")) {
                            Hosts.waitUntil("it is registered there", () -> second.hosts() == 3);
                            assertThat(first.hosts()).isEqualTo(2);
                            assertThat(tenant.connect(c.host()).state()).isEqualTo(QueuePairState.READY_TO_SEND);
                        }
                        // Each agent learns of its registration a moment after the meta server.
                        Hosts.waitUntil(
                                "it to learn of its registration",
                                () -> b.registrationProblem().isEmpty());
                    }
                }
            }
            // The entry of the second one comes first.
            Hosts.waitUntil(
                    "it to know that it is named", () -> waiting.problem().isEmpty());
            assertThat(names.current()).contains(second.address());
        }
    }

    @Test
    void shouldPassOverWhatIsNoControlAddress() throws Exception {
        List<URI> written = List.of(
                URI.create("control:nonsense"),
                URI.create("rdma://host:1"),
                URI.create("control:1/2"),
                URI.create("control:" + GID + "/x"),
                URI.create("control:" + GID + "/5"));
        directory.announce(
                MetaDirectory.CHANNEL,
                Endpoint.of(MetaDirectory.ID, "x", MetaDirectory.FINGERPRINT).withRdma(written));
        assertThat(names.await(SOON)).contains(ControlAddress.parse(GID + "/5"));
    }

    @Test
    void shouldPassOverWhatOthersKeepUnderItsName() throws Exception {
        ControlAddress other = ControlAddress.parse(GID + "/6");
        ControlAddress named = ControlAddress.parse(GID + "/5");
        Endpoint sortsBefore = endpoint("a", MetaDirectory.FINGERPRINT, other);
        Endpoint service = endpoint(MetaDirectory.ID, 1, other);
        assertThat(MetaDirectory.named(List.of(sortsBefore, service))).isEmpty();
        assertThat(MetaDirectory.named(
                        List.of(sortsBefore, endpoint(MetaDirectory.ID, MetaDirectory.FINGERPRINT, named))))
                .contains(named);

        // The wait ignores endpoints that are not meta servers.
        directory.announce(MetaDirectory.CHANNEL, sortsBefore);
        try (MetaDirectory naming = MetaDirectory.follow(directory)) {
            naming.announce(named, "a");
            assertThat(names.await(SOON)).contains(named);
        }
    }

    private static Endpoint endpoint(String id, long fingerprint, ControlAddress address) {
        return Endpoint.of(id, "x", fingerprint).withRdma(List.of(URI.create("control:" + address)));
    }

    @Test
    void shouldSayThatItHasLostItsName() throws Exception {
        URI address = URI.create("unsteady://" + folder);
        ControlAddress first = ControlAddress.parse(GID + "/5");
        ControlAddress second = ControlAddress.parse(GID + "/6");
        try (Directory unsteady = Directory.open(address);
                MetaDirectory losing = MetaDirectory.follow(unsteady)) {
            losing.announce(first, "a");
            assertThat(losing.problem()).isEmpty();
            try (MetaDirectory waiting = MetaDirectory.follow(directory)) {
                waiting.announce(second, "b");
                UnsteadyStoreProvider.at(address).loseLease();
                Hosts.waitUntil(
                        "the other one is named",
                        () -> second.equals(names.current().orElse(first)));
                UnsteadyStoreProvider.at(address).renewLease();
                Hosts.waitUntil("it is told", () -> losing.problem().isPresent());
                assertThat(losing.problem().orElseThrow()).contains("its lease in the directory has ended");
            }
            Hosts.waitUntil("it is named again", () -> losing.problem().isEmpty());
            Hosts.waitUntil("all know", () -> first.equals(names.current().orElse(second)));
        }
    }
}
