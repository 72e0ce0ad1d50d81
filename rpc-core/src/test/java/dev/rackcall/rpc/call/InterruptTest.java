package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.runtime.ServerInstance;
import dev.rackcall.shm.os.file.OwnerLock;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Interrupts callers that wait for something other than an answer. The transport contract covers waiting for the answer. */
class InterruptTest extends RpcFixture {
    /** Later than the elements that the first answer brings. */
    private static final int BLOCKED = 500;

    /** Far more than a test may take. */
    private static final Duration LONG = Duration.ofMinutes(30);

    private static final Set<Thread.State> WAITING = EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);

    static List<Thread.Builder> callers() {
        return List.of(Thread.ofPlatform(), Thread.ofVirtual());
    }

    /** Its asynchronous calls and streams wait for the test. */
    private static final class Gated extends EchoService {
        private final CompletableFuture<Integer> answer = new CompletableFuture<>();
        private final CountDownLatch blocked = new CountDownLatch(1);
        private final CountDownLatch end = new CountDownLatch(1);

        @Override
        public CompletableFuture<Integer> later(int value, int millis) {
            return answer;
        }

        @Override
        public Stream<Integer> count(int from, int to) {
            return super.count(from, to).peek(each -> {
                if (each == BLOCKED) {
                    blocked.countDown();
                    Await.latch(end);
                }
            });
        }
    }

    private final Gated service = new Gated();

    private Echo connect(int slots) {
        serve(serving(Echo.class, service).dispatch(Dispatch.virtualThreads()));
        return open(channel(Echo.class).slots(slots)).stub(Echo.class, within(Await.BOUND));
    }

    /** How the call of an interrupted thread ends, and whether the thread is still interrupted. */
    private record End(RpcException failure, boolean isInterrupted) {
        static End of(Runnable call) {
            try {
                call.run();
                return new End(null, Thread.currentThread().isInterrupted());
            } catch (RpcException e) {
                return new End(e, Thread.currentThread().isInterrupted());
            }
        }

        void assertCancelled(String where) {
            assertThat(failure).isNotNull();
            assertThat(failure.code()).isEqualTo(Status.Code.CANCELLED);
            assertThat(failure).hasMessageContainingAll(where, "interrupted");
            assertThat(isInterrupted).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("callers")
    void shouldEndACallThatWaitsForASlot(Thread.Builder kind) {
        Echo echo = connect(2);
        List<CompletableFuture<Integer>> taken = List.of(echo.later(1, 0), echo.later(2, 0));
        CompletableFuture<End> end = new CompletableFuture<>();
        Thread caller = kind.start(() -> end.complete(End.of(() -> echo.add(1, 2))));
        Await.until("the caller waits", () -> WAITING.contains(caller.getState()));
        caller.interrupt();
        Concurrently.get(end).assertCancelled("free slot");
        service.answer.complete(7);
        assertThat(taken).allSatisfy(each -> assertThat(each.join()).isEqualTo(7));
        assertThat(echo.add(1, 2)).isEqualTo(3);
    }

    @ParameterizedTest
    @MethodSource("callers")
    void shouldEndTheReaderOfAStreamThatWaitsForTheNextElement(Thread.Builder kind) {
        Echo echo = connect(4);
        CompletableFuture<End> end = new CompletableFuture<>();
        Thread caller = kind.start(() -> end.complete(End.of(() -> {
            try (Stream<Integer> counted = echo.count(0, Integer.MAX_VALUE)) {
                counted.forEach(each -> assertThat(each).isLessThan(BLOCKED));
            }
        })));
        // A platform thread that waits natively is RUNNABLE, so its state does not tell whether it waits already.
        Await.latch(service.blocked);
        caller.interrupt();
        Concurrently.get(end).assertCancelled("/test/echo/count");
        service.end.countDown();
        Await.equal("closed streams", 1, service.closedStreams::get);
        assertThat(echo.add(1, 2)).isEqualTo(3);
    }

    /** A server that lives, but neither listens nor answers yet. */
    private ServerInstance starting() {
        RuntimeDirectory folder = RuntimeDirectory.at(directory);
        folder.create();
        ServerInstance server = folder.instance("/test/echo", RuntimeDirectory.newId());
        keep(OwnerLock.tryAcquire(server.lock()).orElseThrow());
        return server;
    }

    private static void assertInterruptEnds(Thread.Builder kind, Runnable connecting) {
        CompletableFuture<End> end = new CompletableFuture<>();
        Thread caller = kind.start(() -> end.complete(End.of(connecting)));
        caller.interrupt();
        Concurrently.get(end).assertCancelled("/test/echo");
    }

    @ParameterizedTest
    @MethodSource("callers")
    void shouldEndTheOpeningOfAChannelWhoseServerIsStarting(Thread.Builder kind) {
        starting();
        assertInterruptEnds(kind, channel(Echo.class).connectTimeout(LONG)::open);
    }

    @ParameterizedTest
    @MethodSource("callers")
    void shouldEndTheOpeningOfAChannelWhoseServerDoesNotAnswer(Thread.Builder kind) {
        keep(UnixSocket.listen(starting().socket(), 16));
        assertInterruptEnds(kind, channel(Echo.class).connectTimeout(LONG)::open);
    }

    @ParameterizedTest
    @MethodSource("callers")
    void shouldEndACallThatConnectsAnew(Thread.Builder kind) {
        keep(UnixSocket.listen(starting().socket(), 16));
        Echo echo = keep(channel(Echo.class).connectTimeout(LONG).openLazily())
                .stub(Echo.class, within(LONG.multipliedBy(2)));
        assertInterruptEnds(kind, () -> echo.add(1, 2));
    }
}
