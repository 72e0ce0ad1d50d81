package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.CallContractTest.HoldingService;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.CapturedErr;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Calls of a channel that has no server: asynchronous ones do not keep their callers waiting. */
class ConnectingCallTest extends RpcFixture {
    private static final Duration BOUND = Duration.ofMinutes(5);
    /** As ConnectingCalls allows. */
    private static final int MOST_CALLS = 1_024;

    private final List<Status.Code> told = new CopyOnWriteArrayList<>();

    private RpcChannel lazyChannel() {
        return keep(channel(Echo.class).openLazily());
    }

    private CallOptions options() {
        return within(BOUND).withObserver((status, _) -> told.add(status.code()));
    }

    private Echo observed(RpcChannel channel) {
        return channel.stub(Echo.class, options().withWaitForReady());
    }

    private static List<CompletableFuture<Integer>> call(Echo echo, int count) {
        return IntStream.range(0, count).mapToObj(i -> echo.later(i, 0)).toList();
    }

    /** A server that serves calls in their order: a handler that gets no processor is not relieved. */
    private void serveInOrder() {
        serve(serving(Echo.class, new EchoService()).stuckAfter(BOUND));
    }

    private static RpcException failureOf(CompletableFuture<?> future) {
        return (RpcException) future.handle((_, thrown) -> thrown).join();
    }

    @Test
    void shouldSendCallsThatBeganBeforeTheirServerInTheirOrder() {
        // All of this happens on the thread that starts the server: no call may wait for it.
        Echo echo = observed(lazyChannel());
        List<CompletableFuture<Integer>> futures = call(echo, 10);
        CompletableFuture<String> thread =
                futures.getFirst().thenApply(_ -> Thread.currentThread().getName());
        List<String> notes = IntStream.range(0, 10).mapToObj(i -> "note " + i).toList();
        notes.forEach(echo::note);
        assertThat(futures).noneMatch(CompletableFuture::isDone);
        serveInOrder();
        // First: a thread that joins a future may complete it itself.
        assertThat(thread).succeedsWithin(BOUND).isEqualTo("rackcall-future");
        assertThat(futures.stream().map(CompletableFuture::join)).containsExactlyElementsOf(range(10));
        Await.equal("notes", notes, echo::notes);
        Await.equal(
                "calls that ended OK",
                20L,
                () -> told.stream().filter(Status.Code.OK::equals).limit(20).count());
    }

    private static List<Integer> range(int end) {
        return IntStream.range(0, end).boxed().toList();
    }

    @Test
    void shouldHoldCallsWhileTheServerIsReplaced() {
        RpcServer former = serve(Echo.class, new EchoService());
        RpcChannel channel = open(Echo.class);
        Echo echo = observed(channel);
        assertThat(echo.later(1, 0).join()).isEqualTo(1);
        former.close();
        List<CompletableFuture<Integer>> futures = call(echo, 10);
        CompletableFuture<Long> sum = CompletableFuture.supplyAsync(() -> echo.add(1, 2), Thread::startVirtualThread);
        serve(Echo.class, new EchoService());
        assertThat(futures.stream().map(CompletableFuture::join)).containsExactlyElementsOf(range(10));
        assertThat(sum.join()).isEqualTo(3L);
    }

    @Test
    void shouldFailTheFuturesOfCallsThatDoNotWait() {
        RpcServer former = serve(Echo.class, new EchoService());
        Echo echo = open(Echo.class).stub(Echo.class, options());
        former.close();
        RpcException e = failureOf(echo.later(1, 0));
        assertThat(e.code()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(e).hasMessageContainingAll("/test/echo", "its server is gone");
        echo.note("lost");
        Await.equal("calls that ended", List.of(Status.Code.UNAVAILABLE, Status.Code.UNAVAILABLE), () -> told);
    }

    @Test
    void shouldRefuseMoreCallsThanMayWait() {
        Echo echo = observed(lazyChannel());
        List<CompletableFuture<Integer>> futures = new ArrayList<>(call(echo, MOST_CALLS));
        assertFails(Status.Code.RESOURCE_EXHAUSTED, () -> echo.later(-1, 0))
                .hasMessageContainingAll(
                        "/test/echo/later", "no server now", "queue is full", "1024 asynchronous calls");
        assertThat(futures.removeLast().cancel(true)).isTrue();
        futures.add(echo.later(7, 0));
        assertThat(told).containsExactlyInAnyOrder(Status.Code.RESOURCE_EXHAUSTED, Status.Code.CANCELLED);
        serve(Echo.class, new EchoService());
        assertThat(futures.getLast().join()).isEqualTo(7);
        Await.equal("calls that ended", MOST_CALLS + 2, told::size);
    }

    @Test
    void shouldNotLetASynchronousCallOvertakeThoseThatWait() throws Exception {
        Echo echo = observed(lazyChannel());
        List<String> notes = IntStream.range(0, 100).mapToObj(i -> "note " + i).toList();
        notes.forEach(echo::note);
        CompletableFuture<List<String>> seen = Concurrently.start(echo::notes);
        serveInOrder();
        assertThat(seen.join()).isEqualTo(notes);
    }

    @Test
    void shouldFailACallThatDoesNotWaitThoughOthersDo() {
        RpcChannel channel = lazyChannel();
        CompletableFuture<Integer> patient = observed(channel).later(1, 0);
        Echo plain = channel.stub(Echo.class, options());
        assertFails(Status.Code.UNAVAILABLE, () -> plain.add(1, 2)).hasMessageContaining("/test/echo");
        assertThat(failureOf(plain.later(2, 0)).code()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(patient).isNotDone();
        serve(Echo.class, new EchoService());
        assertThat(patient.join()).isEqualTo(1);
    }

    /** Calls that wait for a slot when their only server drains were not sent. */
    @Test
    void shouldSendCallsThatWaitedForASlotToTheNextServer() throws Exception {
        HoldingService service = new HoldingService();
        RpcServer former = serve(serving(Echo.class, service).stuckAfter(BOUND));
        Echo echo = observed(open(channel(Echo.class).slots(2)));
        List<CompletableFuture<Integer>> held = call(echo, 2);
        Await.equal("held calls", 2, service.called::size);
        List<CompletableFuture<Long>> waiting = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waiting.add(Concurrently.start(() -> echo.add(1, 2)));
        }
        CompletableFuture<Boolean> drained = Concurrently.start(() -> former.shutdown(BOUND));
        Await.until("the server drains", () -> former.state() != RpcServer.State.SERVING);
        service.letGo();
        assertThat(drained.join()).isTrue();
        assertThat(held).allSatisfy(each -> assertThat(each.join()).isNotNegative());
        serve(Echo.class, new EchoService());
        assertThat(waiting.stream().map(CompletableFuture::join)).containsOnly(3L);
    }

    @Test
    void shouldEndEachCallAtItsOwnDeadline() {
        RpcChannel channel = lazyChannel();
        CompletableFuture<Integer> patient = observed(channel).later(1, 0);
        Echo hurried = channel.stub(Echo.class, within(Duration.ofMillis(20)).withWaitForReady());
        RpcException e;
        try {
            e = failureOf(hurried.later(2, 0));
        } catch (RpcException thrown) {
            // On a busy machine the deadline passes before the call waits.
            e = thrown;
        }
        assertThat(e.code()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        assertThat(e).hasMessageContainingAll("/test/echo/later", "had no server");
        assertThat(patient).isNotDone();
        serve(Echo.class, new EchoService());
        assertThat(patient.join()).isEqualTo(1);
    }

    @Test
    void shouldNotStopOtherTimeoutsWhileAnObserverOfALateCallBlocks() {
        CompletableFuture<Void> blocked = new CompletableFuture<>();
        CompletableFuture<Void> over = new CompletableFuture<>();
        CallOptions options = within(Duration.ofMillis(100)).withWaitForReady().withObserver((_, _) -> {
            blocked.complete(null);
            over.join();
        });
        Echo echo = lazyChannel().stub(Echo.class, options);
        try {
            // On a busy machine the deadline passes before the call waits; then its own thread runs the observer.
            var _ = Concurrently.start(() -> {
                echo.note("late");
                return true;
            });
            assertThat(blocked).succeedsWithin(Await.BOUND);
            CompletableFuture<Void> timeout = new CompletableFuture<Void>().orTimeout(1, TimeUnit.MILLISECONDS);
            assertThat(timeout).failsWithin(Await.BOUND);
        } finally {
            over.complete(null);
        }
    }

    @Test
    void shouldEndCallsThatWaitWithTheirChannel() {
        RpcChannel channel = lazyChannel();
        Echo echo = observed(channel);
        List<CompletableFuture<Integer>> futures = call(echo, 3);
        channel.close();
        assertThat(futures)
                .allSatisfy(each -> assertThat(failureOf(each).code()).isEqualTo(Status.Code.CANCELLED));
        Await.equal("calls that ended", 3, told::size);
        assertFails(Status.Code.CANCELLED, () -> echo.later(1, 0)).hasMessageContaining("/test/echo");
    }

    @Test
    void shouldSayHowManyOneWayCallsAreLostWithTheirChannel() {
        RpcChannel channel = lazyChannel();
        Echo echo = observed(channel);
        echo.note("a");
        var _ = echo.later(1, 0);
        echo.note("b");
        try (CapturedErr log = CapturedErr.begin()) {
            channel.close();
            assertThat(log.text()).contains("channel /test/echo: 2 one-way calls are lost");
        }
    }
}
