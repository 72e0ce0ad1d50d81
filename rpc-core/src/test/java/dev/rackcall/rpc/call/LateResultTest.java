package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.CapturedErr;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Results in shared memory that arrive after their caller has completed the future itself: only Rackcall can release
 * them.
 */
class LateResultTest extends RpcFixture {
    private static final Duration BOUND = Duration.ofSeconds(100);
    private static final int CALLS = 300;

    /** Answers when the test says so. */
    private static final class Late implements LateBooks {
        /** By title: handlers may run side by side when one is slow. */
        final Map<String, BlockingQueue<Runnable>> answers = new ConcurrentHashMap<>();

        @Override
        public CompletableFuture<Library.Book> write(String title, int pages) {
            Library.Book book =
                    LibraryService.fill(RpcContext.current().orElseThrow().replyScope(), title, pages);
            CompletableFuture<Library.Book> result = new CompletableFuture<>();
            of(title).add(() -> result.complete(book));
            return result;
        }

        @Override
        public CompletableFuture<List<Library.Book>> shelf(String title) {
            Library.Book other =
                    LibraryService.fill(RpcContext.current().orElseThrow().replyScope(), title, 4);
            return write(title, 4).thenApply(book -> List.of(book, other));
        }

        private BlockingQueue<Runnable> of(String title) {
            return answers.computeIfAbsent(title, _ -> new LinkedBlockingQueue<>());
        }

        /** Gives the next answer to a call with that title. */
        Runnable next(String title) throws InterruptedException {
            Runnable answer = of(title).poll(BOUND.toSeconds(), TimeUnit.SECONDS);
            assertThat(answer).isNotNull();
            return answer;
        }
    }

    private final Late service = new Late();
    private RpcServer server;

    @BeforeEach
    void start() {
        server = serve(LateBooks.class, service);
    }

    enum End {
        CANCEL(future -> future.cancel(true)),
        EXCEPTION(future -> future.completeExceptionally(new TimeoutException())),
        VALUE(future -> future.complete(null)),
        TIMEOUT(future -> Await.until("the end", future.orTimeout(1, TimeUnit.NANOSECONDS)::isDone));

        private final Consumer<CompletableFuture<?>> way;

        End(Consumer<CompletableFuture<?>> way) {
            this.way = way;
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReleaseResultsThatTheirCallerDoesNotGet(End end) throws Exception {
        RpcChannel channel = open(channel(LateBooks.class).arenaQuota(256 << 10));
        LateBooks books = channel.stub(LateBooks.class);
        for (int i = 0; i < CALLS; i++) {
            CompletableFuture<Library.Book> future = books.write("late", 4);
            Runnable answer = service.next("late");
            if (i % 2 == 0) {
                end.way.accept(future);
                answer.run();
            } else {
                // Either one may come first.
                Thread other = Thread.startVirtualThread(answer);
                end.way.accept(future);
                other.join();
                if (future.state() == Future.State.SUCCESS && future.resultNow() != null) {
                    channel.release(future.resultNow());
                }
            }
        }
        assertLastSucceeds(books);
    }

    /** A call that waited for a slot has a future of its own, which may end after that of the call that was sent. */
    @ParameterizedTest
    @EnumSource
    void shouldReleaseResultsOfQueuedCallsThatTheirCallerDoesNotGet(End end) throws Exception {
        RpcChannel channel = open(channel(LateBooks.class).slots(2).arenaQuota(256 << 10));
        LateBooks books = channel.stub(LateBooks.class);
        for (int i = 0; i < CALLS; i++) {
            CompletableFuture<Library.Book> first = books.write("first", 4);
            CompletableFuture<Library.Book> second = books.write("second", 4);
            CompletableFuture<Library.Book> queued = books.write("queued", 4);
            service.next("first").run();
            channel.release(first.get(BOUND.toSeconds(), TimeUnit.SECONDS));
            Runnable answerSecond = service.next("second");
            Thread other = Thread.startVirtualThread(service.next("queued"));
            if (i % 2 == 0) {
                other.join();
            }
            end.way.accept(queued);
            other.join();
            if (queued.state() == Future.State.SUCCESS && queued.resultNow() != null) {
                channel.release(queued.resultNow());
            }
            answerSecond.run();
            channel.release(second.get(BOUND.toSeconds(), TimeUnit.SECONDS));
        }
        assertLastSucceeds(books);
    }

    private void assertLastSucceeds(LateBooks books) throws InterruptedException {
        CompletableFuture<Library.Book> last = books.write("last", 4);
        service.next("last").run();
        assertThat(last).succeedsWithin(BOUND);
        assertThat(server.connections()).isOne();
    }

    /** An observer is called after the answer was taken and before the caller has the result. It holds that thread. */
    private static final class Taken implements CallObserver {
        private final CountDownLatch taken = new CountDownLatch(1);
        private final CountDownLatch free = new CountDownLatch(1);

        @Override
        public void onEnd(Status status, Metadata trailers) {
            taken.countDown();
            Await.latch(free);
        }
    }

    @Test
    void shouldGiveBackWhatIsLeftToAWaiterThatHasGone() throws Exception {
        BlockingQueue<Taken> calls = new LinkedBlockingQueue<>();
        LateBooks books = open(channel(LateBooks.class)
                        .arenaQuota(128 << 10)
                        .waiting(WaitStrategy.blocking())
                        .interceptor((call, next) -> {
                            if (!calls.isEmpty()) {
                                call.onEnd(calls.remove());
                            }
                            next.run();
                        }))
                .stub(LateBooks.class);
        for (int i = 0; i < 100; i++) {
            Taken call = new Taken();
            calls.add(call);
            CompletableFuture<List<Library.Book>> future = books.shelf("late");
            Thread waiter = Thread.ofPlatform()
                    .start(() -> assertThatThrownBy(future::join).isInstanceOf(CancellationException.class));
            Await.until("a thread that waits", () -> waiter.getState() == Thread.State.TIMED_WAITING);
            service.next("late").run();
            Await.latch(call.taken);
            future.cancel(true);
            waiter.join();
            call.free.countDown();
        }
        assertLastSucceeds(books);
    }

    private LateBooks openEnding(AtomicReference<CompletableFuture<?>> unwanted) {
        return open(channel(LateBooks.class).interceptor((call, next) -> {
                    call.onEnd((_, _) -> {
                        CompletableFuture<?> future = unwanted.get();
                        if (future != null) {
                            future.cancel(true);
                        }
                    });
                    next.run();
                }))
                .stub(LateBooks.class);
    }

    /** Each result has two objects, and there is a warning of 1,024 results. */
    @Test
    void shouldCountAResultOfSeveralObjectsOnceAndNotIfNoCallerGetsIt() throws Exception {
        AtomicReference<CompletableFuture<?>> unwanted = new AtomicReference<>();
        try (CapturedErr log = CapturedErr.begin()) {
            LateBooks books = openEnding(unwanted);
            for (int i = 0; i < 600; i++) {
                // Cancelled when its answer was read, and before it has its value.
                unwanted.set(null);
                CompletableFuture<List<Library.Book>> future = books.shelf("late");
                unwanted.set(future);
                service.next("late").run();
                assertThatThrownBy(() -> future.get(BOUND.toSeconds(), TimeUnit.SECONDS))
                        .isInstanceOf(CancellationException.class);
            }
            RpcChannel channel = open(LateBooks.class);
            LateBooks others = channel.stub(LateBooks.class);
            for (int i = 0; i < 1_100; i++) {
                CompletableFuture<List<Library.Book>> future = others.shelf("read");
                service.next("read").run();
                channel.release(future.get(BOUND.toSeconds(), TimeUnit.SECONDS).getFirst());
            }
            assertThat(log.text()).doesNotContain("were not released");
        }
    }
}
