package dev.rackcall.rpc.balance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.HostServers;
import dev.rackcall.rpc.spi.ClientCalls;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.Dispatcher;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What happens to a channel's connections to the servers of its host. */
@Timeout(200)
class HostBalancerTest extends RpcFixture {
    private ClientSpec spec() {
        return new ClientSpec(
                "/test/echo",
                ClientSpec.Place.here(directory),
                WaitStrategy.blocking(),
                new ClientSpec.Capacity(4, ClientSpec.Capacity.NEAR_QUOTA),
                new ClientSpec.Timeouts(Duration.ofSeconds(30), Duration.ofSeconds(30)),
                ClientSpec.Sealing.DEFAULT);
    }

    private HostBalancer balancer(HostServers.Reached first) {
        return keep(new HostBalancer(spec(), first, _ -> {}));
    }

    /** A thread of the background and a call may both connect to a server. */
    @Test
    void shouldKeepTheFirstOfTwoConnectionsToAServer() {
        serve(Echo.class, new EchoService());
        HostServers.Reached first = HostServers.connectAny(spec());
        HostBalancer balancer = balancer(first);
        ClientConnection second = HostServers.connect(spec(), first.server());
        assertThat(balancer.adopt(new HostServers.Reached(first.server(), second)))
                .isTrue();
        assertThat(first.connection().isUsable()).isTrue();
        assertThat(second.hasEnded()).isTrue();
        assertThat(balancer.subchannels())
                .singleElement()
                .satisfies(only -> assertThat(only.connection()).isSameAs(first.connection()));
    }

    @Test
    void shouldTakeNoConnectionsOnceItIsRetired() {
        serve(Echo.class, new EchoService());
        HostServers.Reached first = HostServers.connectAny(spec());
        HostBalancer balancer = balancer(first);
        balancer.retire();
        assertThat(first.connection().hasEnded()).as("it had no calls").isTrue();
        assertThat(balancer.isOver()).isTrue();
        assertThat(balancer.isClosed()).isFalse();
        ClientConnection second = keep(HostServers.connect(spec(), first.server()));
        assertThat(balancer.adopt(new HostServers.Reached(first.server(), second)))
                .isFalse();
        assertThat(second.isUsable()).isTrue();
    }

    /** A definition whose version takes long to compare. */
    private static final class SlowDefinition extends ServiceDefinition<Echo> {
        private final ServiceDefinition<Echo> echo = ServiceDefinition.of(Echo.class);
        private final CountDownLatch comparing = new CountDownLatch(1);
        private final CountDownLatch goesOn = new CountDownLatch(1);

        @Override
        public long fingerprint() {
            comparing.countDown();
            Await.latch(goesOn);
            return echo.fingerprint();
        }

        @Override
        public Class<Echo> type() {
            return echo.type();
        }

        @Override
        public String channel() {
            return echo.channel();
        }

        @Override
        public List<MethodDescriptor> methods() {
            return echo.methods();
        }

        @Override
        public String description() {
            return echo.description();
        }

        @Override
        public Echo stub(ClientCalls calls) {
            return echo.stub(calls);
        }

        @Override
        public Dispatcher dispatcher(Echo service) {
            return echo.dispatcher(service);
        }
    }

    /** A server that has ended must not wait for that, nor must the list of routes. */
    @Test
    void shouldNoticeEndsWhileVersionsAreCompared() {
        RpcServer server = serve(Echo.class, new EchoService());
        HostBalancer balancer = balancer(HostServers.connectAny(spec()));
        SlowDefinition slow = new SlowDefinition();
        CompletableFuture<Boolean> use = Concurrently.start(() -> {
            balancer.use(slow);
            return true;
        });
        Await.latch(slow.comparing);
        try {
            assertThat(Concurrently.start(balancer::describe))
                    .succeedsWithin(Await.BOUND)
                    .asInstanceOf(InstanceOfAssertFactories.LIST)
                    .hasSize(1);
            server.close();
            Await.equal("routes", 0, () -> balancer.describe().size());
        } finally {
            slow.goesOn.countDown();
        }
        assertThat(use).succeedsWithin(Await.BOUND).isEqualTo(true);
    }
}
