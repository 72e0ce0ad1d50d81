package dev.rackcall.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.EvolutionTest;
import dev.rackcall.rpc.contract.Generation;
import dev.rackcall.rpc.contract.GenerationChild;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Versions of servers and channels that find each other by a directory, and upgrades over each kind of route. */
class RoutedEvolutionTest extends EvolutionTest {
    @TempDir
    private Path folder;

    private final AtomicInteger servers = new AtomicInteger();
    /** By which clients reach servers; empty if they have none. */
    private Optional<TwoHosts> hosts = Optional.empty();

    private URI members() {
        return folder.resolve("members").toUri();
    }

    @Override
    protected RpcServer.Builder place(RpcServer.Builder server) {
        return super.place(server).directory(members()).host("host-a");
    }

    @Override
    protected RpcChannel.Builder place(RpcChannel.Builder channel) {
        hosts.ifPresent(both -> channel.pool(both.second()));
        return super.place(channel)
                .directory(members())
                .host("host-a")
                .arenaQuota(4 << 20)
                .connectTimeout(RoutesFixture.PATIENCE);
    }

    /** A server in a process of its own, and in the given runtime folder; {@link Child} has the arguments. */
    private ChildJvm launch(Generation generation, Path runtime, Kind kind, String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                generation.folder().toString(),
                members().toString(),
                "host-" + servers.incrementAndGet(),
                kind.name()));
        arguments.addAll(List.of(more));
        return ChildJvm.start(Child.class, runtime, arguments.toArray());
    }

    private void upgradeOneByOne(Kind kind, Path runtime, String... more) throws Exception {
        upgradeOneByOne(
                generation -> launch(generation, runtime, kind, more),
                () -> assertThat(openChannel().routes().stream().filter(route -> route.state() == Route.State.USED))
                        .isNotEmpty()
                        .allSatisfy(route -> assertThat(route.kind()).isEqualTo(kind)));
    }

    @Test
    void shouldUpgradeServersOfAHostWithoutAFailedCall() throws Exception {
        upgradeOneByOne(Kind.HOST, directory);
    }

    @Test
    void shouldUpgradeServersOfAPoolWithoutAFailedCall() throws Exception {
        TwoHosts both = keep(TwoHosts.create());
        hosts = Optional.of(both);
        upgradeOneByOne(Kind.POOL, folder.resolve("other"), both.path().toString());
    }

    @Test
    void shouldUpgradeServersWithQueuePairsWithoutAFailedCall() throws Exception {
        upgradeOneByOne(Kind.TCP, folder.resolve("other"));
    }

    @Test
    void shouldUpgradeServersWithVirtualQueuesWithoutAFailedCall() throws Exception {
        MetaServer meta = keep(MetaServer.open(SoftDevice.of("meta", SoftOptions.local()), 16, Duration.ofMinutes(1)));
        Agent agent = keep(Agent.open(
                SoftDevice.of("host-a", SoftOptions.local()),
                AgentOptions.of(HostId.named("host-a")).withMeta(meta::address)));
        Tenant tenant = keep(agent.admit("clients"));
        QueueSettings.use(tenant);
        keep(() -> QueueSettings.forget(tenant));
        upgradeOneByOne(Kind.TCP_QUEUES, folder.resolve("other"), meta.address().toString());
    }

    @Test
    void shouldFindAServerThatHasTheMethodAtOnce() {
        serve(older().serve(place(RpcServer.builder())));
        serve(newer().serve(place(RpcServer.builder())));
        assertOwnMethodsAreFound();
    }

    /** Servers that end without draining: repeatable calls continue on other servers. */
    @Test
    void shouldRepeatCallsOfServersThatCloseDuringAnUpgrade() {
        RpcServer first = startOn("host-b", older());
        RpcServer second = startOn("host-c", older());
        Load load = Load.ofRepeatableCalls();
        List<RpcChannel> channels = List.of(openChannel(), openChannel());
        load.start(older(), channels.getFirst());
        load.start(newer(), channels.getLast());
        load.awaitMore();
        first.close();
        load.awaitMore();
        first = startOn("host-d", newer());
        awaitUse(channels, "host-d");
        load.awaitMore();
        second.close();
        load.awaitMore();
        startOn("host-e", newer());
        awaitUse(channels, "host-e");
        load.awaitMore();
        first.close();
        load.awaitMore();
        startOn("host-f", older());
        load.awaitMore();
        load.end();
    }

    /** Calls may use the host's server, and so go on without the others. */
    private static void awaitUse(List<RpcChannel> channels, String host) {
        Await.until(
                host + " to be used",
                () -> channels.stream()
                        .allMatch(channel -> channel.routes().stream()
                                .anyMatch(route -> route.state() == Route.State.USED
                                        && route.host().equals(host))));
    }

    /** A server on another host, which is reached over the network. */
    private RpcServer startOn(String host, Generation generation) {
        return serve(generation
                .serve(RpcServer.builder())
                .runtimeFolder(folder.resolve(host))
                .arenaQuota(4 << 20)
                .directory(members())
                .host(host)
                .listen(RoutesFixture.ANY_PORT));
    }

    /** A server in a process of its own that announces itself. */
    static final class Child {
        private Child() {}

        /**
         * Arguments: the folder of the version's classes, the directory, the host's name, by which kind of route it is
         * to be reached, and for a pool its file, for virtual queues the address of the meta server.
         */
        public static void main(String[] args) throws Exception {
            String host = args[2];
            RpcServer.Builder server = RpcServer.builder()
                    .directory(URI.create(args[1]))
                    .host(host)
                    .arenaQuota(4 << 20);
            switch (Kind.valueOf(args[3])) {
                case HOST -> GenerationChild.serve(args[0], server);
                case POOL -> GenerationChild.serve(args[0], server.pool(TwoHosts.host(Path.of(args[4]), 0)));
                case TCP -> GenerationChild.serve(args[0], server.listen(RoutesFixture.ANY_PORT));
                case TCP_QUEUES -> {
                    AgentOptions options =
                            AgentOptions.of(HostId.named(host)).withMeta(() -> ControlAddress.parse(args[4]));
                    try (Agent agent = Agent.open(SoftDevice.of(host, SoftOptions.local()), options);
                            Tenant tenant = agent.admit("server")) {
                        QueueSettings.use(tenant);
                        Await.until(
                                "the registration",
                                () -> agent.registrationProblem().isEmpty());
                        GenerationChild.serve(args[0], server.listen(URI.create("vq://" + host + ":0")));
                    }
                }
                default -> throw new IllegalArgumentException(args[3]);
            }
        }
    }
}
