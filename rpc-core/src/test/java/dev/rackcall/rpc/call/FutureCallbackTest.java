package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An action on a call's future may do anything; no other caller waits for it. */
class FutureCallbackTest extends RpcFixture {
    private static final Duration BOUND = Duration.ofSeconds(100);

    private final CountDownLatch blocked = new CountDownLatch(1);
    private RpcServer server;
    private RpcChannel channel;
    private Echo echo;

    @BeforeEach
    void start() {
        server = serve(Echo.class, new EchoService());
        channel = open(Echo.class);
        echo = channel.stub(Echo.class);
    }

    @AfterEach
    void stop() {
        blocked.countDown();
    }

    /** Attaches an action before the call is answered; otherwise the action would run here. */
    private CompletableFuture<Void> attach(Runnable action) {
        while (true) {
            AtomicBoolean attached = new AtomicBoolean();
            AtomicBoolean ranHere = new AtomicBoolean();
            Thread here = Thread.currentThread();
            CompletableFuture<Void> stage = echo.later(1, 5).thenAccept(value -> {
                if (!attached.get() && Thread.currentThread() == here) {
                    ranHere.set(true);
                } else {
                    action.run();
                }
            });
            attached.set(true);
            if (!ranHere.get()) {
                return stage;
            }
        }
    }

    @Test
    void shouldLetACallbackCallInEveryWayAndWait() {
        CompletableFuture<List<Object>> all = echo.later(1, 5).thenApply(first -> {
            List<Object> results = new ArrayList<>();
            results.add(echo.add(first, 1));
            results.add(echo.later(3, 20).join());
            results.add(echo.later(4, 20)
                    .thenApply(value -> echo.later(value, 20).join())
                    .join());
            CompletableFuture<Integer> one = echo.later(5, 20);
            CompletableFuture<Integer> other = echo.later(6, 1);
            CompletableFuture.allOf(one, other).join();
            results.add(one.join() + other.join());
            try (Stream<Integer> stream = echo.count(0, 200)) {
                results.add(stream.count());
            }
            echo.note("from a callback");
            return results;
        });
        assertThat(all).succeedsWithin(BOUND).isEqualTo(List.of(2L, 3, 4, 11, 200L));
    }

    @Test
    void shouldCompleteOtherCallsBesideACallbackThatBlocks() {
        CountDownLatch inside = new CountDownLatch(3);
        List<CompletableFuture<Void>> stuck = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            stuck.add(attach(() -> {
                inside.countDown();
                Await.latch(blocked);
            }));
        }
        Await.latch(inside);
        assertThat(echo.later(7, 5).thenApply(value -> value + 1))
                .succeedsWithin(BOUND)
                .isEqualTo(8);
        assertThat(echo.later(9, 5)).succeedsWithin(BOUND).isEqualTo(9);
        assertThat(echo.add(1, 1)).isEqualTo(2);
        blocked.countDown();
        stuck.forEach(each -> assertThat(each).succeedsWithin(BOUND));
    }

    @Test
    void shouldNotRunACallbackInsideAnotherCall() {
        AtomicReference<Thread> ran = new AtomicReference<>();
        CompletableFuture<Void> callback = attach(() -> {
            ran.set(Thread.currentThread());
            Await.latch(blocked);
        });
        // Each of these calls also looks for answers.
        for (int i = 0; i < 200 || ran.get() == null; i++) {
            assertThat(echo.later(i, 0).join()).isEqualTo(i);
        }
        assertThat(ran.get()).isNotSameAs(Thread.currentThread());
        blocked.countDown();
        assertThat(callback).succeedsWithin(BOUND);
    }

    @Test
    void shouldNoticeTheServersEndWhateverACallbackDoes() {
        CountDownLatch inside = new CountDownLatch(1);
        CompletableFuture<Void> stuck = attach(() -> {
            inside.countDown();
            Await.latch(blocked);
        });
        CompletableFuture<Integer> underWay = echo.later(2, 30_000);
        Await.latch(inside);
        server.shutdown(Duration.ofMillis(1));
        assertThat(underWay)
                .failsWithin(BOUND)
                .withThrowableThat()
                .havingCause()
                .withMessageContaining("UNAVAILABLE");
        assertThat(stuck).isNotDone();
    }

    @Test
    void shouldLetACallbackCloseTheChannel() {
        CompletableFuture<Integer> other = echo.later(2, 30_000);
        assertThat(echo.later(1, 5).thenAccept(value -> channel.close())).succeedsWithin(BOUND);
        assertThat(other).failsWithin(BOUND).withThrowableThat().havingCause().withMessageContaining("CANCELLED");
        Await.equal("connections", 0, server::connections);
    }

    @Test
    void shouldKeepTheErrorsOfCallbacksToTheirStage() {
        CompletableFuture<Object> failed = echo.later(1, 5).thenApply(value -> {
            throw new IllegalArgumentException("a callback's mistake");
        });
        assertThat(failed).failsWithin(BOUND).withThrowableThat().withMessageContaining("a callback's mistake");
        assertThat(echo.later(2, 5)).succeedsWithin(BOUND).isEqualTo(2);
    }

    @Test
    void shouldWaitAsOtherFuturesDo() throws Exception {
        CompletableFuture<Integer> slow = echo.later(1, 500);
        CompletableFuture<Integer> endless = echo.later(2, 30_000);
        assertThatThrownBy(() -> endless.get(1, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread waiter = Thread.ofPlatform().start(() -> thrown.set(catchThrowable(endless::get)));
        CompletableFuture<Integer> second = Concurrently.start(slow::join);
        waiter.interrupt();
        assertThat(waiter.join(BOUND)).isTrue();
        assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
        assertThat(slow.get(30, TimeUnit.SECONDS)).isEqualTo(1);
        assertThat(second).succeedsWithin(BOUND).isEqualTo(1);
        CompletableFuture<Integer> joiner =
                Concurrently.start(() -> endless.exceptionally(e -> 0).join());
        assertThat(endless.cancel(true)).isTrue();
        assertThat(joiner).succeedsWithin(BOUND).isEqualTo(0);
    }

    /**
     * {@code allOf} attaches to a future without calling its methods; here it does so about when the future completes.
     */
    @Test
    void shouldNeverRunACallbackOnTheReactor() throws Exception {
        AtomicInteger ended = new AtomicInteger();
        Set<String> threads = ConcurrentHashMap.newKeySet();
        Echo late = open(channel(Echo.class).interceptor((call, next) -> {
                    call.onEnd((status, trailers) -> {
                        ended.incrementAndGet();
                        for (int i = ended.get() % 20; i > 0; i--) {
                            Thread.onSpinWait();
                        }
                    });
                    next.run();
                }))
                .stub(Echo.class);
        for (int i = 1; i <= 300; i++) {
            CompletableFuture<Integer> future = late.later(i, 0);
            long bound = System.nanoTime() + BOUND.toNanos();
            for (int looks = 1; ended.get() < i && System.nanoTime() - bound < 0; looks++) {
                if (looks % 1000 == 0) {
                    // The reactor may need this processor.
                    Thread.yield();
                } else {
                    Thread.onSpinWait();
                }
            }
            assertThat(CompletableFuture.allOf(future)
                            .thenRun(() -> threads.add(Thread.currentThread().getName())))
                    .succeedsWithin(BOUND);
        }

        assertThat(threads).isSubsetOf(Thread.currentThread().getName(), "rackcall-future");
    }
}
