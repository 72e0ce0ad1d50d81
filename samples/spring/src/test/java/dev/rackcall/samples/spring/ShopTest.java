package dev.rackcall.samples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.samples.spring.client.Checkout;
import dev.rackcall.samples.spring.client.ShopClient;
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

    private ConfigurableApplicationContext serve(String... properties) {
        return run(new Class<?>[] {ShopServer.class, GoldBasket.Exchange.class}, properties);
    }

    private ConfigurableApplicationContext call(String... properties) {
        return run(new Class<?>[] {ShopClient.class}, properties);
    }

    private ConfigurableApplicationContext run(Class<?>[] sources, String... properties) {
        return SpringApplication.run(
                sources,
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
        client = call();
        server = serve();
    }

    @AfterEach
    void end() {
        server.getBean(GoldBasket.class).paid.countDown();
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
        CompletableFuture<Integer> call =
                Concurrently.start(() -> client.getBean(Checkout.class).cart.put(GoldBasket.GOLD));
        Await.equal("calls in the handler", 1, server.getBean(GoldBasket.class).begun::get);
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
        call("tea", "milk").close();
        assertThat(client.getBean(Checkout.class).cart.put("bread")).isEqualTo(3);
    }

    @Test
    void shouldLetACallEndThatIsInFlightWhenTheContextCloses() {
        CompletableFuture<Integer> call = begin();
        RpcServer running = server.getBean(RpcServerLifecycle.class).server().orElseThrow();
        GoldBasket basket = server.getBean(GoldBasket.class);
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
        assertThat(Concurrently.get(call)).isEqualTo(GoldBasket.RESULT);
        assertThat(Concurrently.get(closed)).isTrue();
        assertThat(running.state()).isEqualTo(RpcServer.State.CLOSED);
        Await.until(
                "the thread that keeps the program alive ends",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().equals("rackcall-serve")));
        server = serve();
    }

    @Test
    void shouldEndACallThatOutlastsTheDrain() {
        server.close();
        server = serve("--rackcall.server.drain=0s");
        CompletableFuture<Status.Code> call = Concurrently.start(
                () -> fails(() -> client.getBean(Checkout.class).cart.put(GoldBasket.GOLD)));
        GoldBasket basket = server.getBean(GoldBasket.class);
        Await.equal("calls in the handler", 1, basket.begun::get);
        server.close();
        assertThat(Concurrently.get(call)).isEqualTo(Status.Code.UNAVAILABLE);
        basket.paid.countDown();
        server = serve();
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
        server = serve();
        assertThat(health(client).getStatus()).hasToString("UP");
        assertThat(client.getBean(Checkout.class).channel.state()).isEqualTo(RpcChannel.State.READY);
    }
}
