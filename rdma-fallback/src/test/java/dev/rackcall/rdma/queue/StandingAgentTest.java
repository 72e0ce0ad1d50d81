package dev.rackcall.rdma.queue;

import static dev.rackcall.rpc.contract.RpcFixture.assertFails;
import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.client.Patience;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.cp.server.AgentServer;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.os.file.OwnerLock;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import dev.rackcall.verbs.soft.SoftOptions;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * This host's agent process accepts and says nothing, as if stopped. Each thread that needs it waits with its own time,
 * and the error does not blame the server.
 */
class StandingAgentTest {
    private static final Duration SHORT = Duration.ofMillis(200);
    /** Longer than anything takes here. */
    private static final Duration LONG = Duration.ofMinutes(5);
    /** The names that {@link AgentServer} uses. */
    private static final String SOCKET = "control-plane.agent";

    private static final String OWNER = "control-plane.owner";

    @TempDir
    Path folder;

    private static UnixSocket silent(Path folder) {
        return UnixSocket.listen(folder.resolve(SOCKET), 64);
    }

    private static FutureTask<Tenant> start(FutureTask<Tenant> task) {
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    @Test
    void shouldBoundWhatAChannelWaitsForItsOwnAgent() {
        try (QueueHosts hosts = QueueHosts.served()) {
            hosts.closeDoor(QueueHosts.CLIENT);
            assertThat(hosts.clients().ping(Duration.ofSeconds(5))).isFalse();
            try (UnixSocket _ = silent(hosts.folder(QueueHosts.CLIENT))) {
                RpcChannel.Builder channel = RpcChannel.builder("/a/channel")
                        .address(URI.create("vq://server:7"))
                        .connectTimeout(SHORT);
                assertFails(Status.Code.UNAVAILABLE, channel::open)
                        .hasMessageMatching(
                                "(?s).*the next one at .* has not admitted this tenant within [0-9]{1,3} ms.*");
            }
            hosts.openDoor(QueueHosts.CLIENT);
        }
    }

    @Test
    void shouldJoinOnceAndLetEachThreadWaitWithItsOwnTime() throws Exception {
        HostTenant host = new HostTenant(() -> folder);
        try (OwnerLock _ = OwnerLock.tryAcquire(folder.resolve(OWNER)).orElseThrow();
                UnixSocket _ = silent(folder)) {
            assertThat(host.obstacle()).isEmpty();
            FutureTask<Tenant> patient = start(new FutureTask<>(() -> Patience.within(LONG, host::get)));
            for (int i = 0; i < 2; i++) {
                assertFails(Status.Code.UNAVAILABLE, () -> Patience.within(SHORT, host::get))
                        .hasMessageContaining("has not taken this process in yet; is it stopped?");
            }
            assertThat(patient).isNotDone();
            assertThat(host.present()).isEmpty();
        }
    }

    /** The lock exists before the socket. */
    @Test
    void shouldJoinAnAgentThatHasJustBegun() throws Exception {
        HostTenant host = new HostTenant(() -> folder);
        OwnerLock lock = OwnerLock.tryAcquire(folder.resolve(OWNER)).orElseThrow();
        FutureTask<Tenant> task = new FutureTask<>(() -> Patience.within(LONG, host::get));
        Thread waiting = Thread.ofPlatform().daemon().start(task);
        Await.until("it waits", () -> waiting.getState() == Thread.State.TIMED_WAITING);
        // The socket it finds then answers. The lock is never free in between, or it would be another agent's.
        try (MetaServer meta = MetaServer.open(QueueHosts.device("meta", SoftOptions.local()), 16, LONG);
                Agent agent = Agent.open(
                        QueueHosts.device("late", SoftOptions.local()),
                        AgentOptions.of(HostId.named("late")).withMeta(meta::address))) {
            Path other = folder.resolve("other");
            Files.createDirectory(other);
            try (AgentServer _ = AgentServer.open(agent, other)) {
                Files.createSymbolicLink(folder.resolve(SOCKET), other.resolve(SOCKET));
                try (Tenant tenant = task.get(100, TimeUnit.SECONDS)) {
                    assertThat(host.present()).contains(tenant);
                    assertThat(host.get()).isSameAs(tenant);
                }
            }
        } finally {
            lock.close();
        }
    }

    @Test
    void shouldSayThatThereIsNoAgentWithoutWaitingForOne() {
        HostTenant host = new HostTenant(() -> folder);
        assertThat(host.obstacle()).isPresent();
        assertFails(Status.Code.UNAVAILABLE, () -> Patience.within(LONG, host::get))
                .hasMessageContainingAll("no agent process serves in " + folder, "QueueSettings.use");
    }

    /** One thread makes the hub for all; the tenant's quota has room for only one. */
    @Test
    void shouldMakeOneHubForThreadsThatComeAtOnce() throws Exception {
        int users = 16;
        try (MetaServer meta = MetaServer.open(QueueHosts.device("meta", SoftOptions.local()), 16, LONG);
                Agent agent = Agent.open(
                        QueueHosts.device("small", SoftOptions.local()),
                        AgentOptions.of(HostId.named("small"))
                                .withMeta(meta::address)
                                .withQuota(8, 1))) {
            for (int round = 0; round < 10; round++) {
                try (Tenant tenant = agent.admit("t" + round)) {
                    CyclicBarrier together = new CyclicBarrier(users);
                    List<QueueHub> hubs = Concurrently.call(users, thread -> {
                        together.await();
                        return QueueHub.of(tenant);
                    });
                    QueueHub hub = hubs.getFirst();
                    assertThat(hubs).allSatisfy(each -> assertThat(each).isSameAs(hub));
                    hubs.forEach(QueueHub::release);
                }
            }
        }
    }

    /** After a failed attempt, the next thread tries. */
    @Test
    void shouldLetTheNextMakeAHubWhenTheFirstRunsOutOfTime() throws Exception {
        try (QueueHosts hosts = QueueHosts.served()) {
            hosts.closeDoor(QueueHosts.CLIENT);
            assertThat(hosts.clients().ping(Duration.ofSeconds(5))).isFalse();
            FutureTask<QueueHub> patient;
            try (UnixSocket _ = silent(hosts.folder(QueueHosts.CLIENT))) {
                FutureTask<QueueHub> first = new FutureTask<>(
                        () -> Patience.within(Duration.ofSeconds(4), () -> QueueHub.of(hosts.clients())));
                Thread maker = Thread.ofPlatform().daemon().start(first);
                Await.until("it waits", () -> maker.getState() == Thread.State.TIMED_WAITING);
                patient = new FutureTask<>(() -> Patience.within(LONG, () -> QueueHub.of(hosts.clients())));
                Thread.ofPlatform().daemon().start(patient);
                assertThatThrownBy(() -> Patience.within(SHORT, () -> QueueHub.of(hosts.clients())))
                        .hasMessageContaining("is it stopped?");
                assertThrown(ExecutionException.class, () -> first.get(100, TimeUnit.SECONDS), "is it stopped?");
                assertThat(patient).isNotDone();
            }
            hosts.openDoor(QueueHosts.CLIENT);
            patient.get(100, TimeUnit.SECONDS).release();
        }
    }
}
