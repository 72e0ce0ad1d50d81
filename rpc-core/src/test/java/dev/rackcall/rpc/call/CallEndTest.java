package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A call ends once, every observer hears of it, and it leaves no trace in the slot's next call. */
@Timeout(60)
class CallEndTest extends RpcFixture {
    private final List<Status.Code> told = Collections.synchronizedList(new ArrayList<>());

    private RpcServer.Builder server() {
        return RpcServer.builder().directory(directory);
    }

    private RpcChannel.Builder channel() {
        return RpcChannel.builder("/test/echo")
                .directory(directory)
                .interceptor(call -> status -> told.add(status.code()));
    }

    private Echo connect(RpcChannel.Builder builder) {
        return open(builder).stub(Echo.class);
    }

    @Test
    void shouldTellOnceHowAStreamEnded() {
        serve(server().service(Echo.class, new EchoService()));
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
        serve(server().service(Echo.class, new EchoService()));
        Echo echo = connect(channel().slots(4));
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<?>> running = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                running.add(threads.submit(() -> {
                    for (int i = 0; i < 2_000; i++) {
                        assertThat(codeOf(() -> echo.failAfter(0).close())).isEqualTo(Status.Code.ABORTED);
                    }
                }));
                byte[] value = new byte[3_000];
                Arrays.fill(value, (byte) (thread + 1));
                running.add(threads.submit(() -> {
                    for (int i = 0; i < 4_000; i++) {
                        assertThat(echo.bytes(value)).isEqualTo(value);
                    }
                }));
            }
            for (Future<?> each : running) {
                each.get(50, TimeUnit.SECONDS);
            }
        }
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
            Await.until("being allowed to return", () -> mayReturn.getCount() == 0);
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
        List<Status.Code> served = Collections.synchronizedList(new ArrayList<>());
        serve(server().service(Echo.class, service)
                .dispatch(Dispatch.virtualThreads())
                .interceptor(call -> status -> served.add(status.code())));
        // One slot for each call: on a busy machine, late handlers still hold the slots of earlier calls.
        RpcChannel channel = channel().slots(64).open();
        keep(channel);
        for (int i = 0; i < 50; i++) {
            Echo hurried = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(Duration.ofMillis(2)));
            RpcException e = catchThrowableOfType(RpcException.class, () -> hurried.add(1, 1));
            assertThat(e).as("call %d has an answer", i).isNotNull();
            assertThat(e.code()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
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
        serve(server().service(Echo.class, service).dispatch(Dispatch.workers(2)));
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
                return super.count(from, to).peek(_ -> await(first));
            }
        };
        serve(server().service(Echo.class, service));
        try (RpcChannel channel = channel().open()) {
            Echo hasty = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(Duration.ofMillis(2)));
            while (opened.get() < 20) {
                assertThat(codeOf(() -> hasty.count(0, 10))).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
            }
            Await.until("each stream is closed", () -> service.closedStreams.get() == opened.get());
        } finally {
            first.countDown();
        }
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
                return super.count(from, to).peek(_ -> await(never));
            }
        };
        serve(server().service(Echo.class, service).dispatch(Dispatch.virtualThreads()));
        try (RpcChannel channel = channel().open()) {
            Echo hasty = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(Duration.ofMillis(20)));
            while (entered.get() < 3) {
                assertThat(codeOf(() -> hasty.count(0, 10))).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
            }
            Await.until("each stream is closed", () -> service.closedStreams.get() == entered.get());
        } finally {
            never.countDown();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException("the stream was closed", e);
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
        serve(server().service(Echo.class, service));
        Echo echo = connect(channel().slots(2).defaultTimeout(Duration.ofSeconds(10)));
        for (int i = 0; i < 10; i++) {
            assertThat(echo.later(7, 0).join()).isEqualTo(7);
            assertThat(echo.add(i, 1)).isEqualTo(i + 1L);
            assertThat(echo.later(1, 0))
                    .failsWithin(Duration.ofSeconds(30))
                    .withThrowableThat()
                    .havingCause()
                    .withMessageContaining("UNKNOWN");
        }
    }

    @Test
    void shouldServeOneWayCallsWhoseSenderHasGone() {
        EchoService service = new EchoService();
        serve(server().service(Echo.class, service));
        List<String> sent = new ArrayList<>();
        for (int round = 0; round < 200; round++) {
            try (RpcChannel brief = channel().slots(16).open()) {
                Echo echo = brief.stub(Echo.class);
                for (int i = 0; i <= round % 5; i++) {
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
        serve(server().service(Echo.class, service).stuckAfter(Duration.ofMillis(2)));
        List<String> sent = new ArrayList<>();
        for (int round = 0; round < 20; round++) {
            try (RpcChannel brief = channel().slots(16).open()) {
                Echo echo = brief.stub(Echo.class);
                for (int i = 0; i < 6; i++) {
                    String note = "note " + sent.size();
                    echo.note(note);
                    sent.add(note);
                }
            }
        }
        Await.equal("notes that have come", sent.size(), () -> service.notes().size());
        assertThat(service.notes()).containsExactlyInAnyOrderElementsOf(sent);
    }
}
