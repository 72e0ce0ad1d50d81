package dev.rackcall.samples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.samples.spring.client.Checkout;
import dev.rackcall.samples.spring.client.ShopClient;
import dev.rackcall.samples.spring.server.Basket;
import dev.rackcall.samples.spring.server.ShopServer;
import dev.rackcall.spring.RpcServerLifecycle;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.ConfigurableApplicationContext;

/** Starts two applications, one that serves and one that calls. */
class ShopTest {
    @TempDir
    private Path folder;

    private ConfigurableApplicationContext server;
    private ConfigurableApplicationContext client;

    private ConfigurableApplicationContext run(Class<?> application, String... properties) {
        return SpringApplication.run(
                application,
                Stream.concat(
                                Stream.of(
                                        "--rackcall.runtime-folder=" + folder,
                                        "--spring.main.banner-mode=off",
                                        "--logging.level.root=error"),
                                Stream.of(properties))
                        .toArray(String[]::new));
    }

    /** The client starts first: it needs its servers when it calls. */
    @BeforeEach
    void start() {
        client = run(ShopClient.class);
        server = run(ShopServer.class);
    }

    @AfterEach
    void end() {
        server.getBean(Basket.class).paid.countDown();
        server.close();
        client.close();
    }

    private static Health health(ConfigurableApplicationContext context) {
        return context.getBean("rackcallHealthIndicator", HealthIndicator.class).health();
    }

    private static Status.Code fails(Callable<?> call) {
        try {
            call.call();
            return Status.Code.OK;
        } catch (RpcException e) {
            return e.code();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** A call that runs until the basket is paid. */
    private CompletableFuture<Integer> begin() {
        CompletableFuture<Integer> call = Concurrently.start(client.getBean(Checkout.class).cart::checkOut);
        Await.equal("calls in the handler", 1, server.getBean(Basket.class).checkingOut::get);
        return call;
    }

    @Test
    void shouldCallHealthilyAndMeterIt() {
        Checkout checkout = client.getBean(Checkout.class);
        assertThat(checkout.channel.state()).isEqualTo(RpcChannel.State.IDLE);
        assertThat(checkout.cart.put("tea")).isEqualTo(1);
        assertThat(checkout.field.put("milk")).isEqualTo(2);

        assertThat(health(server).getStatus()).hasToString("UP");
        assertThat(health(server).getDetails())
                .containsEntry("server", "SERVING")
                .containsEntry("connections", 1);
        assertThat(health(client).getStatus()).hasToString("UP");
        assertThat(health(client).getDetails()).isEqualTo(Map.of("channels", Map.of("/shop/cart", "READY")));

        MeterRegistry served = server.getBean(MeterRegistry.class);
        Await.equal("served calls", 2L, () -> {
            // Made when the first call has ended at the server, which its caller does not wait for.
            FunctionCounter calls = served.find("rackcall.server.calls")
                    .tags("method", "put", "status", "OK")
                    .functionCounter();
            return calls == null ? 0L : (long) calls.count();
        });
        assertThat(served.get("rackcall.server.connections").gauge().value()).isEqualTo(1);
        MeterRegistry called = client.getBean(MeterRegistry.class);
        assertThat(called.get("rackcall.client.calls")
                        .tag("method", "put")
                        .functionCounter()
                        .count())
                .isEqualTo(2);
        assertThat(called.get("rackcall.channel.ready").gauge().value()).isEqualTo(1);
        assertThat(called.get("rackcall.channel.reconnects").counter().count()).isZero();
        assertThat(called.find("rackcall.waits").meters()).isNotEmpty();
        assertThat(called.find("rackcall.isolation.seals").meters()).isNotEmpty();
    }

    @Test
    void shouldPutTheArgumentsIntoTheCart() {
        run(ShopClient.class, "tea", "milk").close();
        assertThat(client.getBean(Checkout.class).cart.put("bread")).isEqualTo(3);
    }

    @Test
    void shouldLetACallEndThatIsInFlightWhenTheContextCloses() {
        CompletableFuture<Integer> call = begin();
        RpcServer running = server.getBean(RpcServerLifecycle.class).server().orElseThrow();
        Basket basket = server.getBean(Basket.class);
        HealthIndicator indicator = server.getBean("rackcallHealthIndicator", HealthIndicator.class);
        CompletableFuture<Boolean> closed = Concurrently.start(() -> {
            server.close();
            return true;
        });
        Await.equal("the server's state", RpcServer.State.DRAINING, running::state);
        assertThat(indicator.health().getStatus()).hasToString("OUT_OF_SERVICE");
        Cart cart = client.getBean(Checkout.class).cart;
        Await.equal("a later call", Status.Code.UNAVAILABLE, () -> fails(() -> cart.put("tea")));
        assertThat(call).isNotDone();
        basket.paid.countDown();
        assertThat(Concurrently.get(call)).isEqualTo(7);
        assertThat(Concurrently.get(closed)).isTrue();
        assertThat(running.state()).isEqualTo(RpcServer.State.CLOSED);
        Await.until(
                "the thread that keeps the program alive ends",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().equals("rackcall-serve")));
        server = run(ShopServer.class);
    }

    @Test
    void shouldEndACallThatOutlastsTheDrain() {
        server.close();
        server = run(ShopServer.class, "--rackcall.server.drain=0s");
        CompletableFuture<Status.Code> call =
                Concurrently.start(() -> fails(client.getBean(Checkout.class).cart::checkOut));
        Basket basket = server.getBean(Basket.class);
        Await.equal("calls in the handler", 1, basket.checkingOut::get);
        server.close();
        assertThat(Concurrently.get(call)).isEqualTo(Status.Code.UNAVAILABLE);
        basket.paid.countDown();
        server = run(ShopServer.class);
    }

    /** Without the attempt of the health check, an application that is not called while it is down would stay down. */
    @Test
    void shouldBeDownUntilThereIsAServer() {
        Cart cart = client.getBean(Checkout.class).cart;
        cart.put("tea");
        server.close();
        assertThat(fails(() -> cart.put("milk"))).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(health(client).getStatus()).hasToString("DOWN");
        assertThat(health(client).getDetails().toString()).contains("/shop/cart", "UNAVAILABLE");
        server = run(ShopServer.class);
        assertThat(health(client).getStatus()).hasToString("UP");
        assertThat(client.getBean(Checkout.class).channel.state()).isEqualTo(RpcChannel.State.READY);
    }
}
