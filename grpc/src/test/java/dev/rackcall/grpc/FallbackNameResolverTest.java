package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.NameResolver;
import io.grpc.Status;
import io.grpc.StatusOr;
import io.grpc.SynchronizationContext;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
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
    private final FakeTimers timers = new FakeTimers();
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
        fallBackAfterAFailure();
        assertThat(told).containsExactly(MEMORY);
        assertThat(network.refreshes.get()).isEqualTo(1);
        network.finds(HTTP);
        assertThat(told).containsExactly(MEMORY, HTTP);
    }

    /** Resolvers that get their addresses pushed ignore a refresh, and calls without a deadline would hang. */
    @Test
    void shouldTellAnOldFailureIfNoResultFollowsInTime() {
        fallBackAfterAFailure();
        timers.pass(4_999);
        assertThat(told).containsExactly(MEMORY);
        timers.pass(1);
        assertThat(told).containsExactly(MEMORY, "no server; the fallback " + TARGET + ": no such host");
        network.finds(HTTP);
        timers.pass(10_000);
        assertThat(told).hasSize(3).endsWith(HTTP);
    }

    /** Calls without a deadline would hang. */
    @Test
    void shouldSayIfTheFallbackNeverHasAResult() {
        rackcall.fails("no server");
        timers.pass(29_999);
        assertThat(told).isEmpty();
        timers.pass(1);
        String silence = "no server; the fallback " + TARGET + ": its name resolver has found nothing within 30 s";
        assertThat(told).containsExactly(silence);
        network.finds(HTTP);
        timers.pass(60_000);
        assertThat(told).containsExactly(silence, HTTP);
    }

    @Test
    void shouldNotSpeakOfSilenceAfterTheFirstResult() {
        rackcall.fails("no server");
        network.finds(HTTP);
        timers.pass(60_000);
        assertThat(told).containsExactly(HTTP);
    }

    @Test
    void shouldForgetAnOldFailureAfterTheNextResult() {
        fallBackAfterAFailure();
        network.fails("still no such host");
        timers.pass(10_000);
        assertThat(told).containsExactly(MEMORY, "no server; the fallback " + TARGET + ": still no such host");
    }

    @Test
    void shouldForgetAnOldFailureWhenAServerIsBack() {
        fallBackAfterAFailure();
        rackcall.finds(MEMORY);
        timers.pass(10_000);
        assertThat(told).containsExactly(MEMORY, MEMORY);
    }

    @Test
    void shouldForgetAnOldFailureAtShutdown() {
        fallBackAfterAFailure();
        context.execute(resolver::shutdown);
        timers.pass(10_000);
        assertThat(told).containsExactly(MEMORY);
    }

    private void fallBackAfterAFailure() {
        rackcall.finds(MEMORY);
        network.fails("no such host");
        rackcall.fails("no server");
    }

    /** The channel does not ask for it, because it has addresses. */
    @Test
    void shouldGoOnToLookForServersWhileTheFallbackServes() {
        network.finds(HTTP);
        rackcall.fails("the directory does not answer");
        timers.pass(10_000);
        assertThat(rackcall.refreshes.get()).isEqualTo(1);
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

    /** Runs tasks in the test's thread when the test says that time passes. */
    private static final class FakeTimers extends ScheduledThreadPoolExecutor {
        private final List<Timer> waiting = new ArrayList<>();
        private long now;

        private record Timer(long due, Runnable task, ScheduledFuture<?> handle) {}

        FakeTimers() {
            super(1);
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            // Nothing but a handle that can be cancelled.
            ScheduledFuture<?> handle = super.schedule(() -> {}, 1, TimeUnit.DAYS);
            waiting.add(new Timer(now + unit.toNanos(delay), task, handle));
            return handle;
        }

        void pass(long millis) {
            now += TimeUnit.MILLISECONDS.toNanos(millis);
            List<Timer> due = waiting.stream().filter(timer -> timer.due <= now).toList();
            waiting.removeAll(due);
            due.stream().filter(timer -> !timer.handle.isCancelled()).forEach(timer -> timer.task.run());
        }
    }
}
