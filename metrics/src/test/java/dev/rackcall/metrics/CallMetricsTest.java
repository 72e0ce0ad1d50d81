package dev.rackcall.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CallMetricsTest {
    @TempDir
    private Path folder;

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final CallMetrics metrics = new CallMetrics(registry);
    private final Shop.OneGood shop = new Shop.OneGood();

    private RpcServer.Builder server() {
        return RpcServer.builder().runtimeFolder(folder).meter(metrics).service(Shop.class, shop);
    }

    private RpcChannel.Builder channel() {
        return RpcChannel.builder("/test/shop").runtimeFolder(folder).meter(metrics);
    }

    private long calls(String side, String method, String status, String transport) {
        return calls(registry, side, method, status, transport);
    }

    private static long calls(MeterRegistry registry, String side, String method, String status, String transport) {
        FunctionCounter counter = registry.find("rackcall." + side + ".calls")
                .tags("service", "/test/shop", "method", method, "status", status, "transport", transport)
                .functionCounter();
        return counter == null ? 0 : (long) counter.count();
    }

    private double active(String side, String method) {
        return registry.get("rackcall." + side + ".calls.active")
                .tag("method", method)
                .gauge()
                .value();
    }

    private static void await(BooleanSupplier condition) {
        Await.until("the meters", condition);
    }

    @Test
    void shouldCountCallsByMethodAndStatus() {
        try (RpcServer _ = server().start();
                RpcChannel channel = channel().open()) {
            Shop stub = channel.stub(Shop.class);
            assertThat(stub.price("tea")).isEqualTo(350);
            assertThat(stub.price("tea")).isEqualTo(350);
            assertThatThrownBy(() -> stub.price("sugar")).isInstanceOf(RpcException.class);
            for (String side : new String[] {"client", "server"}) {
                await(() -> calls(side, "price", "NOT_FOUND", "PROCESS") == 1
                        && calls(side, "price", "OK", "PROCESS") == 2);
                assertThat(calls(side, "price", "OK", "PROCESS")).as(side).isEqualTo(2);
                assertThat(active(side, "price")).as(side).isZero();
            }
        }
    }

    private double bytes(String method, String way) {
        return bytes("client", method, way);
    }

    private double bytes(String side, String method, String way) {
        return registry.get("rackcall." + side + ".bytes")
                .tags("service", "/test/shop", "method", method, "way", way)
                .functionCounter()
                .count();
    }

    @Test
    void shouldCountBytesByPointerAndCopied() {
        try (RpcServer _ = server().start();
                RpcChannel channel = channel().open();
                Scope scope = channel.newScope()) {
            Shop stub = channel.stub(Shop.class);
            assertThat(stub.price("tea") + stub.price("tea")).isEqualTo(700);
            assertThat(bytes("price", "copied")).isEqualTo(2 * (Integer.BYTES + "tea".length() + Integer.BYTES));
            assertThat(bytes("price", "pointer")).isZero();
            assertThat(stub.weigh(scope.create(Shop.Bag.class).grams(7))).isEqualTo(7);
            assertThat(bytes("weigh", "copied")).isEqualTo(Long.BYTES + Integer.BYTES);
            assertThat(bytes("weigh", "pointer"))
                    .isEqualTo((double) scope.bytesHeld())
                    .isPositive();
        }
    }

    /** The server does not know how large a scope is whose objects it reads. */
    @Test
    void shouldCountBytesCopiedAtTheServer() {
        try (RpcServer _ = server().start();
                RpcChannel channel = channel().open();
                Scope scope = channel.newScope()) {
            Shop stub = channel.stub(Shop.class);
            assertThat(stub.price("tea")).isEqualTo(350);
            assertThatThrownBy(() -> stub.price("sugar")).isInstanceOf(RpcException.class);
            assertThat(stub.weigh(scope.create(Shop.Bag.class).grams(7))).isEqualTo(7);
            assertThat(stub.stock(1_000).count()).isEqualTo(1_000);
            for (String method : new String[] {"price", "weigh", "stock"}) {
                await(() -> calls("server", method, "OK", "PROCESS") == 1);
                await(() -> bytes("server", method, "copied") >= bytes("client", method, "copied"));
                assertThat(bytes("server", method, "copied")).as(method).isEqualTo(bytes("client", method, "copied"));
            }
            assertThat(registry.find("rackcall.server.bytes")
                            .tag("way", "pointer")
                            .functionCounters())
                    .isEmpty();
        }
    }

    @Test
    void shouldMeasureNothingWhileNoRegistryListens() {
        CompositeMeterRegistry composite = new CompositeMeterRegistry();
        CallMetrics both = new CallMetrics(composite);
        try (RpcServer _ = server().meter(both).start();
                RpcChannel channel = channel().meter(both).open()) {
            Shop stub = channel.stub(Shop.class);
            stub.price("tea");
            await(() -> calls("server", "price", "OK", "PROCESS") == 1);
            assertThat(composite.getMeters()).isEmpty();

            composite.add(new SimpleMeterRegistry());
            stub.price("tea");
            for (String side : new String[] {"client", "server"}) {
                await(() -> calls(composite, side, "price", "OK", "PROCESS") == 1);
            }
        }
    }

    @Test
    void shouldBeEnabledWhileARegistryListens() {
        assertThat(metrics.isEnabled()).isTrue();
        CompositeMeterRegistry composite = new CompositeMeterRegistry();
        CallMetrics several = new CallMetrics(composite);
        for (int i = 0; i < 2; i++) {
            assertThat(several.isEnabled()).isFalse();
            composite.add(registry);
            assertThat(several.isEnabled()).isTrue();
            composite.remove(registry);
        }
    }

    @Test
    void shouldMeasureCallsOfEachKindFromWhenARegistryListens() {
        CompositeMeterRegistry composite = new CompositeMeterRegistry();
        try (RpcServer _ = RpcServer.builder()
                        .runtimeFolder(folder)
                        .meter(new CallMetrics(composite))
                        .service(Shop.class, shop)
                        .start();
                RpcChannel channel = RpcChannel.builder("/test/shop")
                        .runtimeFolder(folder)
                        .meter(new CallMetrics(composite))
                        .open()) {
            Shop stub = channel.stub(Shop.class);
            CompletableFuture<Integer> early = stub.order("tea");
            try (Stream<Integer> stock = stub.stock(1_000)) {
                composite.add(registry);
                CompletableFuture<Integer> late = stub.order("tea");
                assertThat(stub.price("tea")).isEqualTo(350);
                assertThat(stub.stock(1_000).count()).isEqualTo(1_000);
                shop.shipped.complete(7);
                assertThat(early.join() + late.join()).isEqualTo(14);
                assertThat(stock.count()).isEqualTo(1_000);
            }
            for (String side : new String[] {"client", "server"}) {
                for (String method : new String[] {"price", "order", "stock"}) {
                    await(() -> calls(side, method, "OK", "PROCESS") == 1);
                }
            }
        }
    }

    @Test
    void shouldCountAnOrderUntilItIsAnswered() {
        try (RpcServer _ = server().start();
                RpcChannel channel = channel().open()) {
            CompletableFuture<Integer> order = channel.stub(Shop.class).order("tea");
            assertThat(active("client", "order")).isEqualTo(1);
            assertThat(calls("client", "order", "OK", "PROCESS")).isZero();
            long before = System.nanoTime();
            await(() -> {
                // It is there a moment before the call is counted.
                Gauge gauge = registry.find("rackcall.server.calls.active")
                        .tag("method", "order")
                        .gauge();
                return gauge != null && gauge.value() == 1;
            });
            assertThat(active("server", "order")).isEqualTo(1);
            long waited = System.nanoTime() - before;
            shop.shipped.complete(7);
            assertThat(order.join()).isEqualTo(7);
            await(() -> active("client", "order") == 0
                    && active("server", "order") == 0
                    && calls("client", "order", "OK", "PROCESS") == 1);
            assertThat(registry.get("rackcall.client.calls.duration")
                            .tag("method", "order")
                            .timer()
                            .totalTime(TimeUnit.NANOSECONDS))
                    .isGreaterThanOrEqualTo((double) waited);
        }
    }

    @Test
    void shouldAddUpTheCallsOfSeveralChannels() {
        try (RpcServer _ = server().start();
                RpcChannel one = channel().open();
                RpcChannel other = channel().open()) {
            CompletableFuture<Integer> first = one.stub(Shop.class).order("tea");
            CompletableFuture<Integer> second = other.stub(Shop.class).order("tea");
            assertThat(active("client", "order")).isEqualTo(2);
            shop.shipped.complete(7);
            assertThat(first.join() + second.join()).isEqualTo(14);
            await(() -> active("client", "order") == 0);
        }
    }

    /** As by a test that starts afresh. */
    @Test
    void shouldRegisterItsMetersAgainInARegistryThatWasCleared() {
        try (RpcServer _ = server().start();
                RpcChannel one = channel().open();
                RpcChannel other = RpcChannel.builder("/test/shop")
                        .runtimeFolder(folder)
                        .meter(new CallMetrics(registry))
                        .open()) {
            assertThat(one.stub(Shop.class).price("tea")).isEqualTo(350);
            registry.clear();
            assertThat(other.stub(Shop.class).price("tea")).isEqualTo(350);
            assertThat(calls("client", "price", "OK", "PROCESS")).isEqualTo(2);
            assertThat(active("client", "price")).isZero();
            assertThat(bytes("price", "copied")).isPositive();
        }
    }

    @Test
    void shouldCountAStreamWhenItIsOver() {
        try (RpcServer _ = server().start();
                RpcChannel channel = channel().open();
                Stream<Integer> stock = channel.stub(Shop.class).stock(1_000)) {
            assertThat(active("client", "stock")).isEqualTo(1);
            assertThat(stock.count()).isEqualTo(1_000);
            await(() ->
                    calls("client", "stock", "OK", "PROCESS") == 1 && calls("server", "stock", "OK", "PROCESS") == 1);
        }
    }

    @Test
    void shouldNameTheTransportOfCallsThatShareNoMemory() {
        try (RpcServer server =
                        server().listen(URI.create("soft://127.0.0.1:0")).start();
                RpcChannel channel =
                        channel().address(server.address().orElseThrow()).open()) {
            assertThat(channel.stub(Shop.class).price("tea")).isEqualTo(350);
            await(() -> calls("server", "price", "OK", "TCP") == 1);
            assertThat(calls("client", "price", "OK", "TCP")).isEqualTo(1);
            assertThat(bytes("price", "copied")).isEqualTo(Integer.BYTES + "tea".length() + Integer.BYTES);
        }
    }

    @Test
    void shouldCountReconnectsAndCallsThatFoundNoServer() {
        RpcServer first = server().start();
        try (RpcChannel channel = channel().open()) {
            new ChannelMetrics(channel).bindTo(registry);
            // A second time by mistake: each reconnect counts once.
            new ChannelMetrics(channel).bindTo(registry);
            Shop stub = channel.stub(Shop.class, CallOptions.DEFAULT.withTimeout(Duration.ofSeconds(20)));
            assertThat(stub.price("tea")).isEqualTo(350);
            assertThat(registry.get("rackcall.channel.ready").gauge().value()).isEqualTo(1);
            first.close();
            // A call that begins before the channel has noticed that is one over the connection that has ended.
            await(() -> registry.get("rackcall.channel.ready").gauge().value() == 0);
            assertThatThrownBy(() -> stub.price("tea")).isInstanceOf(RpcException.class);
            assertThat(calls("client", "price", "UNAVAILABLE", "none")).isEqualTo(1);
            assertThat(registry.get("rackcall.channel.ready").gauge().value()).isZero();
            try (RpcServer _ = server().start()) {
                assertThat(stub.price("tea")).isEqualTo(350);
                await(() ->
                        registry.get("rackcall.channel.reconnects").counter().count() >= 1);
                assertThat(registry.get("rackcall.channel.reconnects").counter().count())
                        .isEqualTo(1);
            }
        }
    }

    private double gauge(String name) {
        return registry.get(name).gauge().value();
    }

    @Test
    void shouldAddUpServersAndChannelsOfTheSameName() {
        try (RpcServer first = server().start();
                RpcServer second = server().start();
                RpcChannel one = channel().open();
                RpcChannel other = channel().open()) {
            new ServerMetrics(first).bindTo(registry);
            new ServerMetrics(second).bindTo(registry);
            new ChannelMetrics(one).bindTo(registry);
            new ChannelMetrics(other).bindTo(registry);
            assertThat(one.stub(Shop.class).price("tea")
                            + other.stub(Shop.class).price("tea"))
                    .isEqualTo(700);
            assertThat(gauge("rackcall.channel.ready")).isEqualTo(2);
            assertThat(gauge("rackcall.server.serving")).isEqualTo(2);
            // Each channel also connects to its second server by and by.
            await(() -> gauge("rackcall.server.connections") == first.connections() + second.connections());
            one.close();
            assertThat(gauge("rackcall.channel.ready")).isEqualTo(1);
            first.close();
            assertThat(gauge("rackcall.server.serving")).isEqualTo(1);
        }
    }

    @Test
    void shouldCountWaitsByKind() {
        new WaitMetrics().bindTo(registry);
        double[] before = {waits("ANSWER_SLEPT"), waits("REQUEST_SLEPT")};
        try (RpcServer _ = server().waiting(WaitStrategy.blocking()).start();
                RpcChannel channel = channel().waiting(WaitStrategy.blocking()).open()) {
            Shop stub = channel.stub(Shop.class);
            await(() -> {
                assertThat(stub.price("tea")).isEqualTo(350);
                return waits("ANSWER_SLEPT") > before[0] && waits("REQUEST_SLEPT") > before[1];
            });
        }
    }

    private double waits(String kind) {
        return registry.get("rackcall.waits")
                .tag("kind", kind)
                .functionCounter()
                .count();
    }

    @Test
    void shouldShowServersAndIsolation() {
        try (RpcServer server = server().start();
                RpcChannel channel = channel().open()) {
            new ServerMetrics(server).bindTo(registry);
            new IsolationMetrics().bindTo(registry);
            assertThat(channel.stub(Shop.class).price("tea")).isEqualTo(350);
            assertThat(registry.get("rackcall.server.connections")
                            .tag("channels", "/test/shop")
                            .gauge()
                            .value())
                    .isEqualTo(1);
            assertThat(registry.get("rackcall.server.serving").gauge().value()).isEqualTo(1);
            server.close();
            assertThat(registry.get("rackcall.server.serving").gauge().value()).isZero();
            assertThat(registry.get("rackcall.isolation.violations")
                            .functionCounter()
                            .count())
                    .isZero();
        }
    }
}
