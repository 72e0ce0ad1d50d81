package dev.rackcall.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.EvolutionTest;
import dev.rackcall.rpc.contract.Generation;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Versions of servers and channels that find each other by a directory. */
class RoutedEvolutionTest extends EvolutionTest {
    private static final Duration BOUND = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    private Optional<TwoHosts> pools = Optional.empty();

    private URI members() {
        return folder.resolve("members").toUri();
    }

    @Override
    protected RpcServer.Builder place(RpcServer.Builder server) {
        return super.place(server).directory(members()).host("host-a");
    }

    @Override
    protected RpcChannel.Builder place(RpcChannel.Builder channel) {
        RpcChannel.Builder placed = super.place(channel)
                .directory(members())
                .host("host-a")
                .arenaQuota(4 << 20)
                .connectTimeout(RoutesFixture.PATIENCE);
        return pools.map(pool -> placed.pool(pool.second())).orElse(placed);
    }

    /** How the clients reach the servers, which come and go. */
    enum Carrier {
        PROCESS(Kind.PROCESS),
        POOL(Kind.POOL),
        NETWORK(Kind.TCP),
        QUEUES(Kind.TCP_QUEUES);

        private final Kind kind;

        Carrier(Kind kind) {
            this.kind = kind;
        }
    }

    @FunctionalInterface
    private interface Starting {
        RpcServer start(Generation generation);
    }

    private RpcServer.Builder on(String host, Generation generation) {
        return generation
                .serve(RpcServer.builder())
                .runtimeFolder(folder.resolve(host))
                .arenaQuota(4 << 20)
                .directory(members())
                .host(host);
    }

    /** Lets servers of this process listen for virtual queues in the name of a host. */
    private Tenant join(MetaServer meta, String host) {
        Agent agent = keep(Agent.open(
                SoftDevice.of(host, SoftOptions.local()),
                AgentOptions.of(HostId.named(host)).withMeta(meta::address)));
        Tenant tenant = keep(agent.admit(host));
        QueueSettings.use(host, tenant);
        keep(() -> QueueSettings.forget(tenant));
        return tenant;
    }

    private Starting starting(Carrier carrier) {
        AtomicInteger hosts = new AtomicInteger();
        return switch (carrier) {
            case PROCESS -> generation -> serve(generation.serve(place(RpcServer.builder())));
            case NETWORK ->
                generation ->
                        serve(on("host-" + hosts.incrementAndGet(), generation).listen(RoutesFixture.ANY_PORT));
            case POOL -> {
                TwoHosts pool = keep(TwoHosts.create());
                pools = Optional.of(pool);
                // One server of a name can be in a pool; every second one takes its calls meanwhile.
                yield generation -> {
                    int number = hosts.incrementAndGet();
                    RpcServer.Builder server = on("host-" + number, generation).listen(RoutesFixture.ANY_PORT);
                    return serve(number % 2 == 1 ? server.pool(pool.first()) : server);
                };
            }
            case QUEUES -> {
                MetaServer meta =
                        keep(MetaServer.open(SoftDevice.of("meta", SoftOptions.local()), 16, Duration.ofMinutes(1)));
                Tenant own = join(meta, "host-a");
                QueueSettings.use(own);
                keep(() -> QueueSettings.forget(own));
                yield generation -> {
                    String host = "host-" + hosts.incrementAndGet();
                    join(meta, host);
                    return serve(on(host, generation).listen(URI.create("vq://" + host + ":0")));
                };
            }
        };
    }

    @Test
    void shouldCallAServerThatHasTheMethod() {
        Starting starting = starting(Carrier.NETWORK);
        starting.start(older());
        starting.start(newer());
        RpcChannel channel = openChannel();
        Await.equal("routes in use", 2, () -> RoutesFixture.used(channel).size());
        Generation.Client client = newer().client(channel);
        for (int i = 0; i < 20; i++) {
            assertThat(client.call("about", i)).isEqualTo("" + -i);
        }
    }

    /** Two servers are replaced one after the other, and one is rolled back, while old and new clients call. */
    @ParameterizedTest
    @EnumSource
    void shouldUpgradeServersOneByOneWithoutAFailedCall(Carrier carrier) {
        Starting starting = starting(carrier);
        RpcServer first = starting.start(older());
        RpcServer second = starting.start(older());
        Load load = Load.withoutFailure();
        List<RpcChannel> channels = List.of(openChannel(), openChannel());
        load.start(older(), channels.get(0));
        load.start(newer(), channels.get(1));
        load.awaitMore();
        for (Generation next : new Generation[] {newer(), newer(), older(), newer()}) {
            for (RpcChannel channel : channels) {
                Await.until(
                        "calls by " + carrier,
                        () -> RoutesFixture.kinds(channel).contains(carrier.kind));
            }
            assertThat(first.shutdown(BOUND)).isTrue();
            load.awaitMore();
            first = second;
            second = starting.start(next);
            load.awaitMore();
        }
        load.end();
    }
}
