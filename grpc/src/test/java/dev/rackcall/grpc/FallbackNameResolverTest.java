package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import io.grpc.NameResolver;
import io.grpc.Status;
import io.grpc.StatusOr;
import io.grpc.SynchronizationContext;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FallbackNameResolverTest {
    private static final URI TARGET = URI.create("dns:///cart.internal:8443");
    private static final SocketAddress MEMORY = RackcallSocketAddress.of("/shop/cart");
    private static final SocketAddress HTTP = InetSocketAddress.createUnresolved("cart.internal", 8443);

    private final AtomicReference<Throwable> panic = new AtomicReference<>();
    private final SynchronizationContext context = new SynchronizationContext((thread, failure) -> panic.set(failure));
    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
    private final SpokenResolver rackcall = new SpokenResolver("localhost");
    private final SpokenResolver network = new SpokenResolver("cart.internal:8443");
    private final NameResolver resolver =
            new FallbackNameResolver(rackcall, TARGET, network, RackcallNameResolverTest.arguments(context, timers));
    /** Addresses and descriptions of errors. */
    private final List<Object> told = new ArrayList<>();

    @BeforeEach
    void start() {
        context.execute(() -> resolver.start(new NameResolver.Listener2() {
            @Override
            public void onResult(NameResolver.ResolutionResult result) {
                throw new AssertionError("not in the channel's context: " + result);
            }

            @Override
            public Status onResult2(NameResolver.ResolutionResult result) {
                StatusOr<?> servers = result.getAddressesOrError();
                if (!servers.hasValue()) {
                    told.add(servers.getStatus().getDescription());
                    return servers.getStatus();
                }
                told.add(result.getAddressesOrError()
                        .getValue()
                        .getFirst()
                        .getAddresses()
                        .getFirst());
                return Status.OK;
            }

            @Override
            public void onError(Status error) {
                throw new AssertionError("not in the channel's context: " + error);
            }
        }));
    }

    @AfterEach
    void stop() {
        context.execute(resolver::shutdown);
        timers.shutdownNow();
        assertThat(panic.get()).isNull();
    }

    @Test
    void shouldWaitForTheFirstLookForServers() {
        network.finds(HTTP);
        assertThat(told).isEmpty();
        rackcall.fails("no server");
        assertThat(told).containsExactly(HTTP);
    }

    @Test
    void shouldFallBackWhenTheLastServerHasGone() {
        rackcall.finds(MEMORY);
        network.finds(HTTP);
        assertThat(told).containsExactly(MEMORY);
        rackcall.fails("no server");
        assertThat(told).containsExactly(MEMORY, HTTP);
        assertThat(network.refreshes.get()).isEqualTo(1);
        rackcall.finds(MEMORY);
        network.finds(HTTP);
        assertThat(told).containsExactly(MEMORY, HTTP, MEMORY);
    }

    @Test
    void shouldTellOnceThatThereIsNoServer() {
        network.finds(HTTP);
        rackcall.fails("no server");
        rackcall.fails("no server");
        rackcall.fails("no directory");
        assertThat(told).containsExactly(HTTP);
        assertThat(network.refreshes.get()).isEqualTo(1);
    }

    @Test
    void shouldSayWhatBothLack() {
        rackcall.fails("no server");
        network.fails("no such host");
        assertThat(told).containsExactly("no server; the fallback " + TARGET + ": no such host");
        rackcall.finds(MEMORY);
        network.fails("still no such host");
        assertThat(told).hasSize(2).endsWith(MEMORY);
        rackcall.fails("no directory");
        network.fails("no such host yet");
        assertThat(told).hasSize(3).endsWith("no directory; the fallback " + TARGET + ": no such host yet");
    }

    /** Such as one from the channel's start, before the name was known. */
    @Test
    void shouldLookAgainInsteadOfTellingAnOldFailure() {
        rackcall.finds(MEMORY);
        network.fails("no such host");
        rackcall.fails("no server");
        assertThat(told).containsExactly(MEMORY);
        assertThat(network.refreshes.get()).isEqualTo(1);
        network.finds(HTTP);
        assertThat(told).containsExactly(MEMORY, HTTP);
    }

    /** The channel does not ask for it, because it has addresses. */
    @Test
    void shouldGoOnToLookForServersWhileTheFallbackServes() {
        network.finds(HTTP);
        rackcall.fails("the directory does not answer");
        Await.until("another look", () -> rackcall.refreshes.get() > 0);
        assertThat(network.refreshes.get()).isEqualTo(1);
    }

    @Test
    void shouldResolveTheFallbackAgainOnlyWhileItServes() {
        rackcall.finds(MEMORY);
        context.execute(resolver::refresh);
        assertThat(rackcall.refreshes.get()).isEqualTo(1);
        assertThat(network.refreshes.get()).isZero();
        rackcall.fails("no server");
        assertThat(network.refreshes.get()).isEqualTo(1);
        context.execute(resolver::refresh);
        assertThat(network.refreshes.get()).isEqualTo(2);
    }

    @Test
    void shouldEndBothResolvers() {
        context.execute(resolver::shutdown);
        assertThat(List.of(rackcall.hasEnded, network.hasEnded)).containsOnly(true);
        network.finds(HTTP);
        rackcall.fails("no server");
        rackcall.finds(MEMORY);
        assertThat(told).isEmpty();
    }

    @Test
    void shouldHaveTheFallbacksAuthority() {
        assertThat(resolver.getServiceAuthority()).isEqualTo("cart.internal:8443");
    }
}
