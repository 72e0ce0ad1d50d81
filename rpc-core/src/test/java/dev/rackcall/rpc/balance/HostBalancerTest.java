package dev.rackcall.rpc.balance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Ledger;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.HostServers;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.rpc.spi.TestSpecs;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What happens to a channel's connections to the servers of its host. */
@Timeout(200)
class HostBalancerTest extends RpcFixture {
    private ClientSpec spec() {
        return TestSpecs.client("/test/echo", directory);
    }

    private static long soon() {
        return System.nanoTime() + Await.BOUND.toNanos();
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
        assertThat(balancer.adopt(new HostServers.Reached(first.server(), second), soon()))
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
        Await.until(
                "the end of a connection without calls",
                () -> first.connection().hasEnded());
        assertThat(balancer.isOver()).isTrue();
        assertThat(balancer.isClosed()).isFalse();
        ClientConnection second = keep(HostServers.connect(spec(), first.server()));
        assertThat(balancer.adopt(new HostServers.Reached(first.server(), second), soon()))
                .isFalse();
        assertThat(second.isUsable()).isTrue();
    }

    /** Objects that callers hold keep a connection, and their release is noticed without a further call. */
    @Test
    void shouldCloseConnectionsAfterItIsRetiredOnceNothingIsHeldThere() {
        serve(Echo.class, new EchoService());
        HostServers.Reached first = HostServers.connectAny(spec());
        HostBalancer balancer = balancer(first);
        Scope scope = first.connection().newScope(64);
        balancer.retire();
        assertThat(balancer.isOver()).isFalse();
        assertThat(first.connection().hasEnded()).isFalse();
        scope.close();
        Await.until("the connection is closed", balancer::isOver);
        Await.until("the connection has ended", () -> first.connection().hasEnded());
    }

    /** While a server is asked for a service of its, only stubs that need this very answer wait, until their deadlines. */
    @Test
    void shouldLetNoOtherStubWaitForAServerThatDoesNotAnswer() {
        serve(Echo.class, new EchoService());
        HostBalancer balancer = balancer(HostServers.connectAny(spec()));
        ServiceDefinition<Echo> echo = ServiceDefinition.of(Echo.class);
        balancer.use(echo, soon());
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        CompletableFuture<Boolean> use = Concurrently.start(() -> {
            balancer.use(
                    new WatchedDefinition<>(Library.class, () -> {
                        asked.countDown();
                        Await.latch(goesOn);
                    }),
                    soon());
            return true;
        });
        Await.latch(asked);
        try {
            CompletableFuture<Boolean> others = Concurrently.start(() -> {
                balancer.use(echo, soon());
                assertFails(
                        Status.Code.DEADLINE_EXCEEDED,
                        () -> balancer.use(ServiceDefinition.of(Ledger.class), System.nanoTime() + 1_000_000));
                return true;
            });
            assertThat(others).succeedsWithin(Await.BOUND);
            serve(Echo.class, new EchoService());
            Await.equal("routes", 2, () -> balancer.describe().size());
        } finally {
            goesOn.countDown();
        }
        assertThat(use).failsWithin(Await.BOUND).withThrowableThat().withMessageContaining("FAILED_PRECONDITION");
    }

    /** A server that has ended must not wait for that, nor must the list of routes. */
    @Test
    void shouldNoticeEndsWhileVersionsAreCompared() {
        RpcServer server = serve(Echo.class, new EchoService());
        HostBalancer balancer = balancer(HostServers.connectAny(spec()));
        CountDownLatch comparing = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        WatchedDefinition<Echo> slow = new WatchedDefinition<>(Echo.class, () -> {
            comparing.countDown();
            Await.latch(goesOn);
        });
        CompletableFuture<Boolean> use = Concurrently.start(() -> {
            balancer.use(slow, soon());
            return true;
        });
        Await.latch(comparing);
        try {
            assertThat(Concurrently.start(balancer::describe))
                    .succeedsWithin(Await.BOUND)
                    .asInstanceOf(InstanceOfAssertFactories.LIST)
                    .hasSize(1);
            server.close();
            Await.equal("routes", 0, () -> balancer.describe().size());
        } finally {
            goesOn.countDown();
        }
        assertThat(use).succeedsWithin(Await.BOUND).isEqualTo(true);
    }

    @Test
    void shouldReturnToAServerThatFailedForNow() {
        serve(Echo.class, new EchoService());
        serve(Echo.class, new EchoService());
        HostBalancer balancer = balancer(HostServers.connectAny(spec()));
        Await.equal("routes", 2, () -> balancer.describe().size());
        AtomicInteger compared = new AtomicInteger();
        balancer.use(
                new WatchedDefinition<>(Echo.class, () -> {
                    if (compared.getAndIncrement() == 0) {
                        throw Status.Code.RESOURCE_EXHAUSTED
                                .with("all slots are taken")
                                .asException();
                    }
                }),
                soon());
        assertThat(balancer.unsuitable()).isEmpty();
        Await.equal("routes", 2, () -> balancer.describe().size());
        assertThat(compared).hasValueGreaterThan(2);
    }
}
