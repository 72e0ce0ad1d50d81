package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.CallContractTest.HoldingService;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Asynchronous calls that wait for a free slot: bounded, cancellable, and in time. */
class QueuedCallTest extends RpcFixture {
    private static final int SLOTS = 2;
    /** As CallQueue allows. */
    private static final int MOST_QUEUED = 1_024;

    private final HoldingService service = new HoldingService();
    private final List<Status.Code> told = new CopyOnWriteArrayList<>();
    private RpcChannel channel;
    private Echo echo;

    @BeforeEach
    void start() {
        // No handler is relieved that gets no processor for a while: later calls would overtake it.
        serve(serving(Echo.class, service).stuckAfter(Duration.ofMinutes(5)));
        channel = open(channel(Echo.class).slots(SLOTS));
        echo = channel.stub(
                Echo.class,
                CallOptions.DEFAULT
                        .withTimeout(Duration.ofMinutes(5))
                        .withObserver((status, trailers) -> told.add(status.code())));
    }

    private List<CompletableFuture<Integer>> call(int count) {
        List<CompletableFuture<Integer>> futures = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            futures.add(echo.later(i, 0));
        }
        return futures;
    }

    private void awaitAll(List<CompletableFuture<Integer>> futures) {
        Await.until("all calls have ended", () -> {
            service.letGo();
            return futures.stream().allMatch(CompletableFuture::isDone);
        });
    }

    @Test
    void shouldRefuseMoreCallsThanMayWait() {
        List<CompletableFuture<Integer>> futures = call(SLOTS + MOST_QUEUED);
        assertFails(Status.Code.RESOURCE_EXHAUSTED, () -> echo.later(-1, 0))
                .hasMessageContainingAll(
                        "/test/echo/later", "all 2 slots", "1024 asynchronous calls", "wait for their futures");
        assertThat(futures.removeLast().cancel(true)).isTrue();
        futures.add(echo.later(-2, 0));
        CompletableFuture<String> thread =
                futures.getLast().thenApply(_ -> Thread.currentThread().getName());
        awaitAll(futures);
        assertThat(thread.join()).isEqualTo("rackcall-future");
        assertThat(service.called)
                .hasSize(SLOTS + MOST_QUEUED)
                .doesNotContain(-1)
                .contains(-2);
        // Also the refused call and the cancelled one.
        Await.equal("calls that ended", SLOTS + MOST_QUEUED + 2, told::size);
        assertThat(told).containsOnlyOnce(Status.Code.RESOURCE_EXHAUSTED).containsOnlyOnce(Status.Code.CANCELLED);
    }

    @Test
    void shouldQueueOneWayCallsToABoundWithoutBlockingTheirCaller() {
        List<CompletableFuture<Integer>> futures = call(SLOTS);
        List<String> notes = new ArrayList<>();
        for (int i = 0; i < MOST_QUEUED; i++) {
            notes.add("note " + i);
            echo.note(notes.getLast());
        }
        assertFails(Status.Code.RESOURCE_EXHAUSTED, () -> echo.note("too much"))
                .hasMessageContainingAll("/test/echo/note", "all 2 slots", "1024 asynchronous calls");
        assertThat(told).containsExactly(Status.Code.RESOURCE_EXHAUSTED);
        awaitAll(futures);
        // A synchronous call waits until all earlier calls were sent, and the server takes them in order.
        assertThat(echo.notes()).isEqualTo(notes);
        Await.equal("calls that ended", SLOTS + MOST_QUEUED + 2, told::size);
        assertThat(told).containsOnly(Status.Code.OK, Status.Code.RESOURCE_EXHAUSTED);
    }

    @Test
    void shouldSendOneWayCallsThatWaitBeforeTheChannelIsClosed() {
        List<CompletableFuture<Integer>> futures = call(SLOTS);
        List<String> notes = new ArrayList<>();
        // More than one round of the slots, but few: a busy machine must get all of them sent in a second.
        for (int i = 0; i < SLOTS + 1; i++) {
            notes.add("note " + i);
            echo.note(notes.getLast());
        }
        Await.equal("calls in the server", SLOTS, service.called::size);
        service.letGo();
        channel.close();
        assertThat(futures).allSatisfy(future -> assertThat(future).succeedsWithin(Await.BOUND));
        Echo later = open(Echo.class).stub(Echo.class);
        Await.equal("notes", notes, later::notes);
    }

    @Test
    void shouldEndOneWayCallsThatCannotBeSentBeforeTheChannelIsClosed() {
        List<CompletableFuture<Integer>> futures = call(SLOTS);
        echo.note("without a slot");
        channel.close();
        assertThat(futures).allSatisfy(future -> assertThat(future).isCompletedExceptionally());
        Await.equal("calls that ended", SLOTS + 1, told::size);
        assertThat(told).containsOnly(Status.Code.CANCELLED);
        assertThat(open(Echo.class).stub(Echo.class).notes()).isEmpty();
    }

    @Test
    void shouldNotSendACallThatWasCancelledInTheQueue() {
        List<CompletableFuture<Integer>> futures = call(SLOTS + 3);
        assertThat(futures.get(SLOTS + 1).cancel(true)).isTrue();
        assertThat(told).containsExactly(Status.Code.CANCELLED);
        awaitAll(futures);
        assertThat(service.called).containsExactly(0, 1, 2, 4);
        assertThat(echo.add(1, 2)).isEqualTo(3);
    }

    @Test
    void shouldCountTheDeadlineInTheQueue() {
        List<CompletableFuture<Integer>> futures = call(SLOTS);
        Echo hurried = channel.stub(Echo.class, within(Duration.ofMillis(20)));
        CompletableFuture<Integer> late = hurried.later(7, 0);
        Throwable failure = late.handle((value, thrown) -> thrown).join();
        RpcException e = (RpcException) (failure instanceof CompletionException ? failure.getCause() : failure);
        assertThat(e.code()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        assertThat(e).hasMessageContainingAll("/test/echo/later", "free slot", "more slots");
        awaitAll(futures);
        assertThat(service.called).containsExactly(0, 1);
    }

    @Test
    void shouldSendASynchronousCallAfterThoseInTheQueue() throws Exception {
        List<CompletableFuture<Integer>> futures = call(SLOTS + 20);
        Thread letter = Thread.ofPlatform().start(() -> awaitAll(futures));
        assertThat(echo.add(1, 2)).isEqualTo(3);
        assertThat(service.called).hasSize(SLOTS + 20);
        letter.join();
    }

    @Test
    void shouldLetAThreadPassTheAsynchronousCallsThatCameLater() throws Exception {
        List<CompletableFuture<Integer>> futures = call(SLOTS + 3);
        Thread caller = Thread.ofPlatform().start(() -> echo.add(1, 2));
        while (caller.isAlive()) {
            // The queue is never empty.
            futures.removeIf(CompletableFuture::isDone);
            futures.addAll(call(Math.max(0, SLOTS + 10 - futures.size())));
            service.letGo();
        }
        caller.join();
        assertThat(told).containsOnly(Status.Code.OK);
        awaitAll(futures);
    }

    @Test
    void shouldEndQueuedCallsWithTheirChannel() {
        List<CompletableFuture<Integer>> futures = call(SLOTS + 3);
        channel.close();
        for (CompletableFuture<Integer> each : futures) {
            Throwable failure = each.handle((value, thrown) -> thrown).join();
            assertThat(failure.toString()).contains("CANCELLED");
        }
        Await.equal("calls that ended", SLOTS + 3, told::size);
    }
}
