package dev.rackcall.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.CountingLedger;
import dev.rackcall.rpc.contract.Ledger;
import dev.rackcall.rpc.contract.LedgerService;
import dev.rackcall.rpc.contract.StoreContract;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Stores of handlers have the same effect over every route that a directory leads to. Servers are in this process, but named
 * in the directory as those of others are.
 */
class RoutedStoreTest {
    private static final String CHANNEL = "/test/ledger";

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class Routed extends StoreContract {
        private final Kind kind;
        private final Deque<AutoCloseable> all = new ArrayDeque<>();
        private Path folder;
        private Directory members;

        Routed(Kind kind) {
            this.kind = kind;
        }

        final <T extends AutoCloseable> T keepForAll(T item) {
            all.push(item);
            return item;
        }

        @BeforeAll
        void start(@TempDir Path shared) {
            folder = shared;
            members = keepForAll(Directory.open(shared.resolve("members").toUri()));
            keepForAll(start("one", ledgerService));
        }

        @AfterAll
        void end() throws Exception {
            for (AutoCloseable each : all) {
                each.close();
            }
        }

        final RpcServer start(String name, LedgerService service) {
            URI own = folder.resolve("directory of " + name).toUri();
            RpcServer server = place(
                            RpcServer.builder().service(Ledger.class, service).directory(own))
                    .start();
            try (Directory announced = Directory.open(own)) {
                Endpoint endpoint = announced.endpoints(ChannelName.of(CHANNEL)).getFirst();
                Endpoint named = Endpoint.of(name, endpoint.host(), endpoint.fingerprint())
                        .withTcp(endpoint.tcp());
                members.announce(
                        ChannelName.of(CHANNEL),
                        endpoint.pools().stream()
                                .filter(pool -> pool.startsWith(MemoryNames.POOL))
                                .reduce(named, Endpoint::withPool, (_, last) -> last));
            }
            return server;
        }

        @Override
        protected RpcServer.Builder place(RpcServer.Builder server) {
            return server.runtimeFolder(folder.resolve("there")).host("there").arenaQuota(16 << 20);
        }

        @Override
        protected RpcChannel.Builder place(RpcChannel.Builder channel) {
            return channel.runtimeFolder(folder.resolve("here"))
                    .directory(folder.resolve("members").toUri())
                    .host("here")
                    .arenaQuota(16 << 20)
                    .connectTimeout(RoutesFixture.PATIENCE);
        }

        @Test
        void shouldCallOverThatRoute() {
            RpcChannel channel = open(place(RpcChannel.builder(CHANNEL)));
            assertThat(channel.routes().stream().filter(route -> route.state() == Route.State.USED))
                    .extracting(Route::kind)
                    .isEqualTo(List.of(kind));
        }
    }

    @Nested
    class OverTcp extends Routed {
        OverTcp() {
            super(Kind.TCP);
        }

        @Override
        protected RpcServer.Builder place(RpcServer.Builder server) {
            return super.place(server).listen(RoutesFixture.ANY_PORT);
        }

        @Test
        void shouldShowTheCallerWhatAHandlerOfEitherServerStores() {
            CountingLedger two = new CountingLedger();
            CountingLedger three = new CountingLedger();
            keep(start("two", two));
            keep(start("three", three));
            RpcChannel channel = open(place(RpcChannel.builder(CHANNEL)));
            Ledger ledger = channel.stub(Ledger.class);
            Await.until("both servers have stored", () -> {
                CountingLedger.assertDeposits(channel, ledger);
                return two.deposits() > 1 && three.deposits() > 1;
            });
        }
    }

    @Nested
    class OverVirtualQueues extends Routed {
        OverVirtualQueues() {
            super(Kind.TCP_QUEUES);
        }

        @Override
        @BeforeAll
        void start(@TempDir Path shared) {
            MetaServer meta =
                    keepForAll(MetaServer.open(SoftDevice.of("meta", SoftOptions.local()), 16, Duration.ofMinutes(1)));
            Tenant here = tenant("here", meta);
            QueueSettings.use(here);
            keepForAll(() -> QueueSettings.forget(here));
            Tenant there = tenant("there", meta);
            QueueSettings.use("there", there);
            keepForAll(() -> QueueSettings.forget(there));
            super.start(shared);
        }

        private Tenant tenant(String host, MetaServer meta) {
            Agent agent = keepForAll(Agent.open(
                    SoftDevice.of(host, SoftOptions.local()),
                    AgentOptions.of(HostId.named(host)).withMeta(meta::address)));
            return keepForAll(agent.admit(host));
        }

        @Override
        protected RpcServer.Builder place(RpcServer.Builder server) {
            return super.place(server).listen(URI.create("vq://there:0"));
        }
    }

    @Nested
    class OverAPool extends Routed {
        private final TwoHosts hosts = keepForAll(TwoHosts.create());

        OverAPool() {
            super(Kind.POOL);
        }

        @Override
        protected RpcServer.Builder place(RpcServer.Builder server) {
            return super.place(server).pool(hosts.first());
        }

        @Override
        protected RpcChannel.Builder place(RpcChannel.Builder channel) {
            return super.place(channel).pool(hosts.second());
        }
    }
}
