package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.AbstractList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How calls share a connection's slots when either end fails. */
class SlotTest extends RpcFixture {
    private static final int SLOTS = 4;

    private RpcChannel open() {
        return open(channel(Echo.class).slots(SLOTS));
    }

    @Test
    void shouldNotOverrunAServerThatDoesNotTakeRequests() throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        RpcServer server = serve(serving(Echo.class, new EchoService())
                .stuckAfter(Duration.ofSeconds(30))
                .interceptor((call, next) -> {
                    if (call.method().name().equals("block")) {
                        held.countDown();
                    }
                    next.run();
                }));
        RpcChannel other = open();
        RpcChannel channel = open();
        Thread holder = Thread.ofPlatform().start(() -> other.stub(Echo.class).block(500));
        Await.latch(held);
        Echo echo = channel.stub(Echo.class, within(Duration.ofMillis(10)));
        // None of these calls is sent, but each one uses a slot's turn.
        for (int i = 0; i < 5 * SLOTS; i++) {
            assertThat(codeOf(() -> echo.bytes(null)))
                    .isIn(
                            Status.Code.INVALID_ARGUMENT,
                            Status.Code.RESOURCE_EXHAUSTED,
                            // On a busy machine the deadline passes before the search for a slot.
                            Status.Code.DEADLINE_EXCEEDED);
        }
        assertThat(channel.stub(Echo.class).add(1, 2)).isEqualTo(3);
        holder.join();
        assertThat(server.connections()).isEqualTo(2);
    }

    /** A caller that is not woken when a slot is left would wait for its deadline or for the bound of a sleep. */
    @Test
    void shouldServeManyMoreCallersThanSlots() {
        serve(serving(Echo.class, new EchoService()));
        Echo echo = open().stub(Echo.class);
        List<CompletableFuture<Long>> sums = IntStream.range(0, 500)
                .mapToObj(i -> {
                    CompletableFuture<Long> sum = new CompletableFuture<>();
                    Thread.Builder builder = i % 10 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
                    builder.start(() -> {
                        try {
                            sum.complete(echo.add(i, 1));
                        } catch (RuntimeException | Error e) {
                            sum.completeExceptionally(e);
                        }
                    });
                    return sum;
                })
                .toList();
        for (int i = 0; i < sums.size(); i++) {
            assertThat(sums.get(i)).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(i + 1L);
        }
    }

    @Test
    void shouldReleaseResultsThatAnotherThreadThanThePollerMade() {
        RpcServer server = serve(serving(Library.class, new LibraryService()).dispatch(Dispatch.workers(2)));
        RpcChannel channel = open(Library.class);
        Scope scope = channel.newScope();
        Library library = channel.stub(Library.class);
        for (int i = 0; i < 50; i++) {
            channel.release(library.write("book", 2));
        }
        // The scope belongs to the first connection, so this fails if that connection was lost.
        assertThat(library.texts(LibraryService.fill(scope, "mine", 1))).containsExactly("mine 0");
        assertThat(server.connections()).isEqualTo(1);
    }

    @Test
    void shouldSurviveACancellationListenerThatThrows() throws InterruptedException {
        CountDownLatch told = new CountDownLatch(1);
        RpcServer server = serve(serving(Echo.class, new EchoService())
                .dispatch(Dispatch.virtualThreads())
                .interceptor((call, next) -> {
                    call.onCancel(() -> {
                        throw new IllegalStateException("a listener's mistake");
                    });
                    call.onCancel(told::countDown);
                    next.run();
                }));
        RpcChannel kept = open();
        try (RpcChannel lost = open()) {
            assertThat(lost.stub(Echo.class).later(1, 30_000).cancel(true)).isTrue();
            assertThat(lost.stub(Echo.class).add(1, 2)).isEqualTo(3);
        }
        Await.latch(told);
        assertThat(kept.stub(Echo.class).add(2, 2)).isEqualTo(4);
        Await.equal("connections", 1, server::connections);
    }

    @Test
    void shouldServeOthersWhileACancellationListenerBlocks() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        RpcServer server = serve(serving(Echo.class, new EchoService())
                // The poller was not relieved.
                .stuckAfter(Duration.ofMinutes(1))
                .interceptor((call, next) -> {
                    if (call.method().name().equals("later")) {
                        call.onCancel(() -> {
                            told.countDown();
                            Await.latch(end);
                        });
                        begun.countDown();
                    }
                    next.run();
                }));
        RpcChannel kept = open();
        try {
            try (RpcChannel lost = open()) {
                CompletableFuture<Integer> future = lost.stub(Echo.class).later(1, 30_000);
                // The server takes no such call of a client that has disconnected.
                Await.latch(begun);
                assertThat(future.cancel(true)).isTrue();
            }
            Await.latch(told);
            assertThat(kept.stub(Echo.class).add(2, 2)).isEqualTo(4);
            Await.equal("connections", 1, server::connections);
        } finally {
            end.countDown();
        }
    }

    /** Elements that come from calls while the list is encoded as another call's argument. */
    private static final class CalledSizes extends AbstractList<Double> {
        private final IntFunction<Number> call;

        CalledSizes(IntFunction<Number> call) {
            this.call = call;
        }

        @Override
        public Double get(int index) {
            return call.apply(index).doubleValue();
        }

        @Override
        public int size() {
            return 5;
        }
    }

    private static Echo.Parcel parcel(IntFunction<Number> sizes) {
        return new Echo.Parcel("nested", 1, Echo.Kind.BOX, new CalledSizes(sizes), Map.of(), Optional.empty());
    }

    @Test
    void shouldLetArgumentsComeFromCallsOverTheSameSlots() throws Exception {
        RpcServer server = serve(Echo.class, new EchoService());
        // Enough for the nested calls of two threads.
        Echo echo = open(channel(Echo.class).slots(2 * SLOTS)).stub(Echo.class);
        List<IntFunction<Number>> ways = List.of(
                index -> echo.add(index, 1),
                index -> echo.later(index + 1, 1).join(),
                index -> echo.count(0, index + 1).count(),
                index -> echo.parcel(parcel(inner -> echo.add(inner, index + 1)))
                        .sizes()
                        .getFirst(),
                index -> {
                    // As many calls as there are other slots, so this slot has its turn again.
                    for (int i = 0; i < 6 * SLOTS; i++) {
                        echo.note("note");
                    }
                    return index + 1;
                });
        Concurrently.run(2, thread -> {
            for (int round = 0; round < 20; round++) {
                for (IntFunction<Number> way : ways) {
                    assertThat(echo.parcel(parcel(way)).sizes()).containsExactly(1.0, 2.0, 3.0, 4.0, 5.0);
                }
            }
        });
        assertThat(catchThrowable(() -> echo.parcel(parcel(index -> {
                    echo.nothing();
                    throw new IllegalStateException("an element's mistake");
                }))))
                .hasMessageContaining("an element's mistake");
        assertThat(echo.add(1, 2)).isEqualTo(3);
        assertThat(server.connections()).isEqualTo(1);
    }
}
