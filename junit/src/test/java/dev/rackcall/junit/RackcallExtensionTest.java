package dev.rackcall.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

class RackcallExtensionTest {
    private final AtomicInteger seen = new AtomicInteger();

    @RegisterExtension
    final RackcallExtension rackcall = RackcallExtension.serving(Cart.class, Cart.Basket::new)
            .and(Cart.Till.class, () -> cents -> 2 * cents)
            .and(Cart.Shelf.class, () -> good -> 100)
            .server(server -> server.pollers(1))
            .channel(channel -> channel.slots(8).interceptor((call, next) -> {
                seen.incrementAndGet();
                next.run();
            }));

    @RegisterExtension
    final Remembering jupiter = new Remembering();

    /** What JUnit last asked with. */
    static final class Remembering implements ParameterResolver {
        private ParameterContext parameter;
        private ExtensionContext context;

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            this.parameter = parameter;
            this.context = context;
            return false;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            throw new AssertionError("it supports none");
        }
    }

    private static Status.Code codeOf(Runnable call) {
        return catchThrowableOfType(RpcException.class, call::run).code();
    }

    @Test
    void shouldGiveStubsServerAndChannel(Cart cart, Cart.Till till, RpcServer server, RpcChannel channel) {
        assertThat(cart.put("tea")).isEqualTo(1);
        assertThat(cart.put("milk")).isEqualTo(2);
        assertThat(till.pay(5)).isEqualTo(10);
        assertThat(server.channels()).containsExactly("/test/cart", "/test/till", "/test/shelf");
        assertThat(channel.name()).isEqualTo("/test/cart");
    }

    @Test
    void shouldStartWithNewHandlers(Cart cart) {
        assertThat(cart.put("tea")).isEqualTo(1);
    }

    @Test
    void shouldLetCallsFail(Cart cart, CallFaults faults) {
        faults.exhaust("put");
        assertThat(codeOf(() -> cart.put("tea"))).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(seen).as("calls that the test's own interceptor saw").hasValue(1);
        assertThat(cart.count().join()).as("another method").isZero();
        faults.fail("put", Status.Code.UNAVAILABLE.with("gone"));
        assertThat(codeOf(() -> cart.put("tea"))).isEqualTo(Status.Code.UNAVAILABLE);
        faults.clear();
        assertThat(cart.put("tea")).isEqualTo(1);
        assertThatThrownBy(() -> faults.fail("put", Status.OK)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldLetFuturesFail(Cart cart, CallFaults faults) {
        faults.fail("count", Status.Code.UNAVAILABLE.with("gone"));
        CompletableFuture<Integer> count = cart.count();
        assertThatThrownBy(count::join).hasCauseInstanceOf(RpcException.class).hasMessageContaining("gone");
        faults.exhaust("count");
        assertThat(codeOf(() -> cart.count().join()))
                .as("a call that cannot be sent")
                .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    }

    @Test
    void shouldTellTheMethodsOfTwoServicesApart(Cart cart, Cart.Shelf shelf, CallFaults faults) {
        faults.of(Cart.Shelf.class).fail("put", Status.Code.NOT_FOUND.with("no room"));
        assertThat(codeOf(() -> shelf.put("tea"))).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(cart.put("tea")).isEqualTo(1);
        faults.fail("put", Status.Code.UNAVAILABLE.with("gone"));
        assertThat(codeOf(() -> shelf.put("tea"))).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(codeOf(() -> cart.put("tea"))).isEqualTo(Status.Code.UNAVAILABLE);
        faults.of(Cart.class).clear();
        assertThat(codeOf(() -> cart.put("tea"))).as("of all").isEqualTo(Status.Code.UNAVAILABLE);
        faults.clear();
        assertThat(shelf.put("tea") + cart.put("tea")).isEqualTo(102);

        faults.of(Cart.class).hold("count");
        CompletableFuture<Integer> held = cart.count();
        Await.until("the held call", () -> faults.of(Cart.class).waiting() == 1);
        assertThat(faults.of(Cart.Shelf.class).waiting()).isZero();
        faults.of(Cart.Shelf.class).release("count");
        assertThat(faults.waiting()).isEqualTo(1);
        faults.release("count");
        assertThat(held.join()).isEqualTo(2);
        assertThatThrownBy(() -> faults.of(Runnable.class)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldHoldCallsUntilTheyAreReleased(Cart cart, CallFaults faults) {
        faults.hold("count");
        CompletableFuture<Integer> held = cart.count();
        Await.until("the held call", () -> faults.waiting() == 1);
        assertThat(cart.put("tea")).as("a call beside it").isEqualTo(1);
        faults.release("put");
        assertThat(faults.waiting()).as("after the release of another method").isEqualTo(1);
        assertThat(held).isNotDone();
        faults.release("count");
        assertThat(held.join()).isEqualTo(1);
        assertThat(cart.count().join()).isEqualTo(1);
    }

    @Test
    void shouldLetDeadlinesPass(RpcChannel channel, CallFaults faults) {
        faults.hold("put");
        Cart hasty = channel.stub(Cart.class, CallOptions.DEFAULT.withTimeout(Duration.ofMillis(20)));
        assertThat(codeOf(() -> hasty.put("tea"))).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        Await.until("its caller has given up", () -> faults.waiting() == 0);
    }

    @Test
    void shouldDelayCalls(Cart cart, CallFaults faults) {
        faults.delay("put", Duration.ofMillis(5));
        long before = System.nanoTime();
        assertThat(cart.put("tea")).isEqualTo(1);
        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(5_000_000);
    }

    @Test
    void shouldLoseTheServerAndFindItAgain(Cart cart, CallFaults faults) {
        assertThat(cart.put("tea")).isEqualTo(1);
        faults.hold("count");
        CompletableFuture<Integer> held = cart.count();
        Await.until("the held call", () -> faults.waiting() == 1);
        rackcall.loseServer();
        // Another thread completes it once the end of the connection is noticed.
        Await.until("the held call has ended", held::isDone);
        assertThat(held).isCompletedExceptionally();
        assertThat(codeOf(() -> cart.put("milk"))).isEqualTo(Status.Code.UNAVAILABLE);
        rackcall.restartServer();
        assertThat(cart.put("tea")).as("of a new handler").isEqualTo(1);
    }

    @Test
    void shouldRefuseServicesThatItDoesNotServe() {
        assertThatThrownBy(() -> rackcall.stub(Runnable.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("java.lang.Runnable is not served");
    }

    @Test
    void shouldRefuseASecondTestAndParametersOutsideOfAny(RpcServer server) throws IOException {
        RackcallExtension other = RackcallExtension.serving(Cart.class, Cart.Basket::new);
        assertThatThrownBy(() -> rackcall.beforeEach(jupiter.context))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("another test runs");
        rackcall.afterEach(null);
        assertThat(server.state()).isEqualTo(RpcServer.State.SERVING);
        assertThatThrownBy(() -> other.resolveParameter(jupiter.parameter, jupiter.context))
                .isInstanceOf(ParameterResolutionException.class)
                .hasMessageContaining("no RpcServer");
    }

    @Test
    void shouldLeaveNoFiles(RpcServer server) throws IOException {
        assertThat(rackcall.server()).isSameAs(server);
        RackcallExtension other = RackcallExtension.serving(Cart.class, Cart.Basket::new);
        other.beforeEach(jupiter.context);
        assertThat(other.stub(Cart.class).put("tea")).isEqualTo(1);
        Path folder = other.folder();
        assertThat(folder).isDirectory();
        other.afterEach(jupiter.context);
        assertThat(Files.exists(folder)).isFalse();
    }

    @Test
    void shouldOpenOneChannelOfAServiceForAllThreads() throws Exception {
        AtomicInteger opened = new AtomicInteger();
        List<Class<?>> services = List.of(Cart.class, Cart.Till.class, Cart.Shelf.class);
        RackcallExtension other = RackcallExtension.serving(Cart.class, Cart.Basket::new)
                .and(Cart.Till.class, () -> cents -> cents)
                .and(Cart.Shelf.class, () -> good -> 100)
                .channel(_ -> opened.incrementAndGet());
        other.beforeEach(jupiter.context);
        int threads = 3 * services.size();
        CyclicBarrier begin = new CyclicBarrier(threads);
        List<RpcChannel> channels = Concurrently.call(threads, number -> {
            begin.await(Await.BOUND.toSeconds(), TimeUnit.SECONDS);
            return other.channel(services.get(number % services.size()));
        });
        assertThat(opened).hasValue(services.size());
        assertThat(Set.copyOf(channels)).hasSize(services.size());
        other.afterEach(jupiter.context);
        assertThat(channels).allMatch(channel -> channel.state() == RpcChannel.State.CLOSED);
        assertThatThrownBy(() -> other.stub(Cart.class))
                .as("a thread that outlives its test")
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no test runs");
    }

    @Test
    void shouldLeaveNoServerOfRestartsOnSeveralThreads() throws Exception {
        RackcallExtension other = RackcallExtension.serving(Cart.class, Cart.Basket::new);
        other.beforeEach(jupiter.context);
        Path folder = other.folder();
        int threads = 4;
        CyclicBarrier begin = new CyclicBarrier(threads);
        Concurrently.call(threads, _ -> {
            begin.await(Await.BOUND.toSeconds(), TimeUnit.SECONDS);
            other.restartServer();
            return null;
        });
        try (Stream<Path> files = Files.walk(folder)) {
            assertThat(files.filter(file -> file.toString().endsWith(".lock")))
                    .as("servers")
                    .hasSize(1);
        }
        other.afterEach(jupiter.context);
        assertThat(Files.exists(folder)).isFalse();
        assertThatThrownBy(other::restartServer)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no test runs");
    }

    /** Fails, and leaves a folder that cannot be deleted. */
    static final class Unlucky {
        /** Of the test that has run last. */
        static final AtomicReference<Path> LEFT = new AtomicReference<>();

        @RegisterExtension
        final RackcallExtension rackcall = RackcallExtension.serving(Cart.class, Cart.Basket::new);

        @Test
        void shouldFail(Cart cart) throws IOException {
            LEFT.set(rackcall.folder());
            obstruct(rackcall.folder());
            assertThat(cart.put("tea")).as("what fails on purpose").isEqualTo(2);
        }
    }

    /** A folder whose path is long, and too long once it lies in another such folder. */
    private static Path deep(Path folder) {
        return folder.resolve(String.join("/", Collections.nCopies(12, "x".repeat(200))));
    }

    /** Puts folders into it whose paths are too long for the kernel, which stops root, too. */
    private static void obstruct(Path folder) throws IOException {
        Files.createDirectories(deep(folder));
        Files.createDirectories(deep(folder.resolve("rest")));
        Files.move(folder.resolve("rest"), deep(folder).resolve("rest"));
    }

    private static void delete(Path obstructed) throws IOException {
        Files.move(deep(obstructed).resolve("rest"), obstructed.resolve("rest"));
        Await.deleted(obstructed);
    }

    @Test
    void shouldReportATestsFailureBeforeThatOfItsEnd() throws IOException {
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(Unlucky.class))
                                .build(),
                        summary);
        delete(Unlucky.LEFT.get());
        Throwable failure = summary.getSummary().getFailures().getFirst().getException();
        assertThat(failure).isInstanceOf(AssertionError.class).hasMessageContaining("what fails on purpose");
        assertThat(failure.getSuppressed())
                .singleElement()
                .asInstanceOf(InstanceOfAssertFactories.THROWABLE)
                .hasMessageContainingAll("not cleaned up", Unlucky.LEFT.get().toString());
    }

    @Test
    void shouldServeTheNextTestAfterAFolderThatItCannotDelete() throws IOException {
        RackcallExtension other = RackcallExtension.serving(Cart.class, Cart.Basket::new);
        other.beforeEach(jupiter.context);
        Path folder = other.folder();
        RpcServer server = other.server();
        RpcChannel channel = other.channel(Cart.class);
        obstruct(folder);
        assertThatThrownBy(() -> other.afterEach(jupiter.context))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("not cleaned up", folder.toString())
                .hasRootCauseInstanceOf(FileSystemException.class);
        delete(folder);
        assertThat(channel.state()).isEqualTo(RpcChannel.State.CLOSED);
        assertThat(server.state()).isEqualTo(RpcServer.State.CLOSED);

        other.beforeEach(jupiter.context);
        assertThat(other.folder()).isNotEqualTo(folder);
        assertThat(other.stub(Cart.class).put("tea")).isEqualTo(1);
        other.afterEach(jupiter.context);
    }
}
