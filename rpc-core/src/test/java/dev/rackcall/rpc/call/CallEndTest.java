package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.IntUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A call ends once, every observer hears of it, and it leaves no trace in the slot's next call. */
class CallEndTest extends RpcFixture {
    private final List<Status.Code> told = Collections.synchronizedList(new ArrayList<>());

    private RpcChannel.Builder channel() {
        return channel(Echo.class).interceptor((call, next) -> {
            call.onEnd((status, trailers) -> told.add(status.code()));
            next.run();
        });
    }

    private Echo connect(RpcChannel.Builder builder) {
        return open(builder).stub(Echo.class);
    }

    @Test
    void shouldTellOnceHowAStreamEnded() {
        serve(Echo.class, new EchoService());
        Echo echo = connect(channel());
        assertThat(codeOf(() -> echo.failAfter(0).close())).isEqualTo(Status.Code.ABORTED);
        assertThat(told).containsExactly(Status.Code.ABORTED);
        assertThat(codeOf(() -> echo.failAfter(3).forEach(element -> {}))).isEqualTo(Status.Code.ABORTED);
        assertThat(told).containsExactly(Status.Code.ABORTED, Status.Code.ABORTED);
        try (Stream<Integer> all = echo.count(0, 500)) {
            assertThat(all.count()).isEqualTo(500);
        }
        try (Stream<Integer> first = echo.count(0, 500)) {
            assertThat(first.findFirst()).contains(0);
        }
        assertThat(told.subList(2, told.size())).containsExactly(Status.Code.OK, Status.Code.CANCELLED);
    }

    @Test
    void shouldNotTouchTheCallThatHasTheSlotAfterAFailedStream() throws Exception {
        serve(Echo.class, new EchoService());
        Echo echo = connect(channel().slots(4));
        Concurrently.run(4, thread -> {
            byte[] value = new byte[3_000];
            Arrays.fill(value, (byte) thread);
            for (int i = 0; i < (thread < 2 ? 2_000 : 4_000); i++) {
                if (thread < 2) {
                    assertThat(codeOf(() -> echo.failAfter(0).close())).isEqualTo(Status.Code.ABORTED);
                } else {
                    assertThat(echo.bytes(value)).isEqualTo(value);
                }
            }
        });
    }

    /** A future whose registration returns late: by then its value has been sent. */
    private static final class Lingering extends CompletableFuture<Integer> {
        private final CountDownLatch mayReturn;

        Lingering(CountDownLatch mayReturn) {
            this.mayReturn = mayReturn;
            complete(7);
        }

        @Override
        public CompletableFuture<Integer> whenComplete(BiConsumer<? super Integer, ? super Throwable> action) {
            CompletableFuture<Integer> result = super.whenComplete(action);
            Await.latch(mayReturn);
            return result;
        }
    }

    @Test
    void shouldNotTakeForAnAnswerWhatAHandlerReturnsThatGaveUpAtTheDeadline() {
        EchoService service = new EchoService() {
            @Override
            public long add(long a, long b) {
                RpcContext call = RpcContext.current().orElseThrow();
                while (!call.isCancelled()) {
                    Thread.onSpinWait();
                }
                return a;
            }
        };
        // Late handlers may still end.
        List<Status.Code> served = new CopyOnWriteArrayList<>();
        serve(serving(Echo.class, service).dispatch(Dispatch.virtualThreads()).interceptor((call, next) -> {
            call.onEnd((status, trailers) -> served.add(status.code()));
            next.run();
        }));
        // Slots for each call and its cancellation: on a busy machine, late handlers still hold those of earlier calls.
        RpcChannel channel = open(channel().slots(128));
        for (int i = 0; i < 50; i++) {
            Echo hurried = channel.stub(Echo.class, within(Duration.ofMillis(2)));
            assertFails(Status.Code.DEADLINE_EXCEEDED, () -> hurried.add(1, 1));
        }
        assertThat(served).doesNotContain(Status.Code.OK);
    }

    @Test
    void shouldNotAnswerTheCallThatHasTheSlotAfterAnAsynchronousOne() throws Exception {
        CountDownLatch mayReturn = new CountDownLatch(1);
        EchoService service = new EchoService() {
            @Override
            public CompletableFuture<Integer> later(int value, int millis) {
                return new Lingering(mayReturn);
            }
        };
        serve(serving(Echo.class, service).dispatch(Dispatch.workers(2)));
        Echo echo = connect(channel().slots(2));
        assertThat(echo.later(7, 0).join()).isEqualTo(7);
        assertThat(echo.add(1, 1)).isEqualTo(2);
        CompletableFuture<Boolean> next = CompletableFuture.supplyAsync(() -> echo.block(500));
        Await.until("the slot's next call", () -> service.blocking.get() == 1);
        mayReturn.countDown();
        assertThat(next.join()).as("cancelled").isFalse();
        assertThat(echo.add(2, 2)).isEqualTo(4);
    }

    /** Callers that give up before the first element; the server alone knows their streams then. */
    @Test
    void shouldEndStreamsWhoseOpenersNoLongerWait() {
        AtomicInteger opened = new AtomicInteger();
        CountDownLatch first = new CountDownLatch(1);
        EchoService service = new EchoService() {
            @Override
            public Stream<Integer> count(int from, int to) {
                opened.incrementAndGet();
                return super.count(from, to).peek(_ -> Await.latch(first));
            }
        };
        serve(Echo.class, service);
        shouldCloseStreams(service, opened, 20, Duration.ofMillis(2), first);
    }

    /** The handler returns its stream after its caller has cancelled; no element ever arrives. */
    @Test
    void shouldEndAStreamThatComesTooLate() {
        CountDownLatch never = new CountDownLatch(1);
        AtomicInteger entered = new AtomicInteger();
        EchoService service = new EchoService() {
            @Override
            public Stream<Integer> count(int from, int to) {
                RpcContext context = RpcContext.current().orElseThrow();
                entered.incrementAndGet();
                Await.until("the caller gives up", context::isCancelled);
                return super.count(from, to).peek(_ -> Await.latch(never));
            }
        };
        serve(serving(Echo.class, service).dispatch(Dispatch.virtualThreads()));
        shouldCloseStreams(service, entered, 3, Duration.ofMillis(20), never);
    }

    private void shouldCloseStreams(
            EchoService service, AtomicInteger opened, int most, Duration timeout, CountDownLatch end) {
        try (RpcChannel channel = channel().open()) {
            Echo hasty = channel.stub(Echo.class, within(timeout));
            while (opened.get() < most) {
                // On a busy machine calls that were given up still hold all slots.
                assertThat(codeOf(() -> hasty.count(0, 10)))
                        .isIn(Status.Code.DEADLINE_EXCEEDED, Status.Code.RESOURCE_EXHAUSTED);
            }
            Await.until("each stream is closed", () -> service.closedStreams.get() == opened.get());
        } finally {
            end.countDown();
        }
    }

    /** A future whose registration fails, with or without effect. */
    private static final class Deaf extends CompletableFuture<Integer> {
        private final boolean listens;

        Deaf(boolean listens) {
            this.listens = listens;
            complete(7);
        }

        @Override
        public CompletableFuture<Integer> whenComplete(BiConsumer<? super Integer, ? super Throwable> action) {
            if (listens) {
                action.accept(7, null);
                action.accept(8, null);
            }
            throw new IllegalStateException("expected in this test");
        }
    }

    @Test
    void shouldAnswerOnceWhateverAStageDoes() {
        EchoService service = new EchoService() {
            @Override
            public CompletableFuture<Integer> later(int value, int millis) {
                return new Deaf(value == 7);
            }
        };
        serve(Echo.class, service);
        Echo echo = connect(channel().slots(2).defaultTimeout(Await.BOUND));
        for (int i = 0; i < 10; i++) {
            assertThat(echo.later(7, 0).join()).isEqualTo(7);
            assertThat(echo.add(i, 1)).isEqualTo(i + 1L);
            assertThat(echo.later(1, 0))
                    .failsWithin(Await.BOUND)
                    .withThrowableThat()
                    .havingCause()
                    .withMessageContaining("UNKNOWN");
        }
    }

    @Test
    void shouldServeOneWayCallsWhoseSenderHasGone() {
        EchoService service = new EchoService();
        serve(Echo.class, service);
        shouldServeNotesOfBriefClients(service, 200, round -> 1 + round % 5);
    }

    private void shouldServeNotesOfBriefClients(EchoService service, int clients, IntUnaryOperator notesOf) {
        List<String> sent = new ArrayList<>();
        for (int client = 0; client < clients; client++) {
            try (RpcChannel brief = channel().slots(16).open()) {
                Echo echo = brief.stub(Echo.class);
                for (int i = 0; i < notesOf.applyAsInt(client); i++) {
                    String note = "note " + sent.size();
                    echo.note(note);
                    sent.add(note);
                }
            }
        }
        Await.equal("notes that have come", sent.size(), () -> service.notes().size());
        assertThat(service.notes()).containsExactlyInAnyOrderElementsOf(sent);
    }

    /** Each handler takes so long that the connection's turn ends after it, whether or not its thread is relieved. */
    @Test
    void shouldServeSlowOneWayCallsWhoseSenderHasGone() {
        EchoService service = new EchoService() {
            @Override
            @SuppressWarnings("UnsynchronizedOverridesSynchronized") // others may go on while it waits
            public void note(String text) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(3));
                super.note(text);
            }
        };
        serve(serving(Echo.class, service).stuckAfter(Duration.ofMillis(2)));
        shouldServeNotesOfBriefClients(service, 20, client -> 6);
    }
}
