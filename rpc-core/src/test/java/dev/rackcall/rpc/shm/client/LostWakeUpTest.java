package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.LostWakeUps;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The bound of a sleep ends every wait, also one whose wake-up was lost; but then it is counted. The tests make one side
 * overlook that the other sleeps: they change the words in which it says so.
 */
class LostWakeUpTest extends RpcFixture {
    private static final Duration SHORT_GRACE = Duration.ofMillis(20);
    private static final Executor VIRTUAL = Thread::startVirtualThread;
    private static final Executor PLATFORM = task -> new Thread(task).start();

    /** What the handler does before it answers. */
    private volatile Runnable before = () -> {};

    private ShmClientConnection connection;
    private Echo echo;

    @BeforeEach
    void connect() {
        LostWakeUps.grace(SHORT_GRACE);
        serve(Echo.class, new EchoService() {
            @Override
            public long add(long first, long second) {
                before.run();
                return super.add(first, second);
            }

            @Override
            public CompletableFuture<Integer> later(int value, int millis) {
                before.run();
                return CompletableFuture.completedFuture(value);
            }
        });
        open();
    }

    private void open() {
        connection = keep(LyingServer.connect("/test/echo", directory, Await.BOUND));
        ServiceDefinition<Echo> definition = ServiceDefinition.of(Echo.class);
        connection.use(definition);
        echo = definition.stub(method -> connection.begin(
                method,
                System.nanoTime() + Await.BOUND.toNanos(),
                Metadata.EMPTY,
                Isolation.TRUSTED,
                CallObserver.NONE));
        assertThat(echo.add(1, 1)).isEqualTo(2);
    }

    /** Closing is no subject of these tests: it gets the usual grace. */
    @AfterEach
    void endOverlooking() {
        before = () -> {};
        LostWakeUps.grace(GRACE);
        takeRescued();
    }

    private static void spinUntil(BooleanSupplier condition) {
        long end = System.nanoTime() + Await.BOUND.toNanos();
        while (!condition.getAsBoolean() && System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }

    private void overlookCallers() {
        spinUntil(() -> ControlLayout.asleep(connection.memory, 0) != 0);
        for (int slot = 0; slot < Long.SIZE; slot++) {
            ControlLayout.wakeUp(connection.memory, slot);
        }
    }

    private void overlookReactor() {
        spinUntil(() -> ControlLayout.isReactorAsleep(connection.memory));
        ControlLayout.reactorAsleep(connection.memory, false);
    }

    /** Calls until a wake-up is lost: one that slept a moment later than its announcement saw the answer by itself. */
    private void awaitRescue(Executor caller) {
        Await.until("a lost wake-up", () -> {
            CompletableFuture<Long> sum = CompletableFuture.supplyAsync(() -> echo.add(20, 22), caller);
            assertThat(sum).succeedsWithin(Await.BOUND).isEqualTo(42L);
            return takeRescued() > 0;
        });
    }

    @Test
    void shouldCountACallerWhomTheServerDidNotWake() {
        before = this::overlookCallers;
        awaitRescue(PLATFORM);
    }

    @Test
    void shouldCountAVirtualThreadForWhichTheServerDidNotRing() {
        before = this::overlookReactor;
        awaitRescue(VIRTUAL);
    }

    @Test
    void shouldCountAFutureForWhichTheServerDidNotRing() {
        before = this::overlookReactor;
        Await.until("a lost wake-up", () -> {
            CompletableFuture<Integer> future = echo.later(7, 0);
            Await.until("the answer", future::isDone);
            assertThat(future).isCompletedWithValue(7);
            return takeRescued() > 0;
        });
    }

    @Test
    void shouldCountARequestForWhichNoCallerRang() {
        Await.until("a lost wake-up", () -> {
            Await.until("the server to stop polling", () -> !ControlLayout.isWatched(connection.memory));
            ControlLayout.watched(connection.memory, true);
            assertThat(echo.add(20, 22)).isEqualTo(42);
            return takeRescued() > 0;
        });
    }

    @Test
    void shouldCountACallerThatWasNotToldOfAFreeSlot() {
        // A caller that is between two sleeps finds the slot by itself.
        Await.until("a lost wake-up", this::overlookAWaitingCaller);
    }

    /** Frees a slot without a word to the caller that waits for one; returns whether that counted. */
    private boolean overlookAWaitingCaller() {
        open();
        List<ShmClientCall> held = List.of(connection.slots.all());
        held.forEach(call -> call.setState(ClientSlot.HELD));
        Thread waiting = Thread.ofPlatform().start(() -> codeOf(() -> echo.add(1, 1)));
        Await.until(
                "a caller that sleeps in the queue",
                () -> connection.slots.queue.hasWaiters() && waiting.getState() == Thread.State.TIMED_WAITING);
        takeRescued();
        held.getFirst().setState(ClientSlot.FREE);
        Await.until("the end of its call", () -> !waiting.isAlive());
        connection.close();
        held.forEach(ClientSlot::release);
        return takeRescued() > 0;
    }

    /** A future that wakes no waiter. */
    private static final class Forgetful extends PolledFuture<Long> {
        private final boolean wakes;

        Forgetful(boolean wakes) {
            this.wakes = wakes;
        }

        @Override
        void help(long end) {}

        @Override
        void passOverOwn() {}

        @Override
        boolean settleOutcome() {
            return false;
        }

        @Override
        boolean takes() {
            return false;
        }

        @Override
        void finishTaken() {}

        @Override
        boolean wakeWaiter() {
            return wakes && super.wakeWaiter();
        }

        @Override
        void abandon(String how) {}
    }

    private static void join(Forgetful future) {
        Thread waiting = new Thread(future::join);
        waiting.start();
        Await.until("the thread to wait", () -> waiting.getState() == Thread.State.TIMED_WAITING);
        future.complete(1L);
        Await.until("the thread to end", () -> !waiting.isAlive());
    }

    @Test
    void shouldCountAThreadWhoseFutureForgotIt() {
        assertNoneRescued(() -> join(new Forgetful(true)));
        Await.until("a lost wake-up", () -> {
            join(new Forgetful(false));
            return takeRescued() == 1;
        });
    }

    /** With the usual grace: the thread that wakes another may get no processor for longer than that of these tests. */
    private void assertNoneRescued(Runnable waits) {
        LostWakeUps.grace(GRACE);
        takeRescued();
        waits.run();
        assertThat(takeRescued()).isZero();
        LostWakeUps.grace(SHORT_GRACE);
    }

    /** It sleeps several times to the bound before its answer comes, or its deadline. */
    @Test
    void shouldNotCountACallThatTakesLong() {
        before = () -> awaitQuietly(350);
        RpcChannel hurried = open(channel(Echo.class).defaultTimeout(Duration.ofMillis(100)));
        CountDownLatch over = new CountDownLatch(1);
        assertNoneRescued(() -> {
            assertThat(echo.add(20, 22)).isEqualTo(42);
            assertThat(CompletableFuture.supplyAsync(() -> echo.add(20, 22), VIRTUAL))
                    .succeedsWithin(Await.BOUND)
                    .isEqualTo(42L);
            assertThat(echo.later(7, 0).join()).isEqualTo(7);
            // Not answered before: a caller takes an answer that it finds, even after its deadline.
            before = () -> Await.latch(over);
            assertThat(codeOf(() -> hurried.stub(Echo.class).add(1, 1))).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
            over.countDown();
        });
    }

    private static void awaitQuietly(long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }
}
