package dev.rackcall.rpc.servers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How servers and channels begin, end, and say what they are doing. */
@Timeout(200)
class LifeCycleTest extends RpcFixture {
    private static final Duration BOUND = Duration.ofSeconds(100);
    /** Longer than the second that the runtime's own exit hook once gave calls. */
    private static final long WORK_MILLIS = 2_500;

    private ChildJvm server(String... wishes) throws Exception {
        List<Object> arguments = new ArrayList<>(List.of(directory));
        arguments.addAll(List.of(wishes));
        ChildJvm child = keep(ChildJvm.of(TillServer.class, arguments.toArray()).start());
        child.awaitLine("serving");
        return child;
    }

    @Test
    void shouldGiveCallsTheTimeThatTheUsersExitHookGives() throws Exception {
        ChildJvm server = server("hook");
        Till till = open(channel(Till.class)).stub(Till.class, within(BOUND));
        CompletableFuture<Long> call = Concurrently.start(() -> till.work(WORK_MILLIS));
        server.awaitLine("working");
        server.terminate();
        assertThat(call).succeedsWithin(BOUND).isEqualTo(server.pid());
        assertThat(server.awaitLine("drained")).isEqualTo("drained true");
        server.awaitEnd();
        assertThat(directory.toFile().list()).isNullOrEmpty();
    }

    /** Its own exit hook gives the pool's memory back, and once did so before the program's hook was ready. */
    @Test
    void shouldNotEndAServerOfAPoolBeforeTheUsersExitHookDoes() throws Exception {
        TwoHosts hosts = keep(TwoHosts.create());
        Pool pool = hosts.second();
        ChildJvm server = server("slow-hook", "pool", hosts.path().toString());
        Till till = open(RpcChannel.builder("/test/till").pool(pool)).stub(Till.class, within(BOUND));
        CompletableFuture<Long> call = Concurrently.start(() -> till.work(WORK_MILLIS));
        server.awaitLine("working");
        server.terminate();
        server.awaitLine("exiting");
        // While the first call runs: a server whose hook does not shut it down ends a second after its last call.
        assertThat(till.pid()).as("it still takes calls").isEqualTo(server.pid());
        server.send("drain");
        assertThat(call).succeedsWithin(BOUND).isEqualTo(server.pid());
        assertThat(server.awaitLine("drained")).isEqualTo("drained true");
        server.awaitEnd();
        assertFails(Status.Code.UNAVAILABLE, till::pid);
    }

    @Test
    void shouldCloseAServerOfAPoolAtExitWithoutAnExitHook() throws Exception {
        TwoHosts hosts = keep(TwoHosts.create());
        Pool pool = hosts.second();
        long empty = pool.arena().usedBytes();
        ChildJvm server = server("pool", hosts.path().toString());
        RpcChannel channel = open(RpcChannel.builder("/test/till").pool(pool));
        Till till = channel.stub(Till.class, within(BOUND));
        assertThat(till.pid()).isEqualTo(server.pid());
        long used = pool.arena().usedBytes();
        server.terminate();
        server.awaitEnd();
        // The door stays. A server that is killed leaves a window for each client. The last side to leave gives it
        // back.
        Await.until("most memory is given back", () -> pool.arena().usedBytes() - empty < (used - empty) / 2);
    }

    @Test
    void shouldLeaveNoFilesWithoutAnExitHook() throws Exception {
        ChildJvm server = server();
        Till till = open(channel(Till.class)).stub(Till.class, within(BOUND));
        CompletableFuture<Status.Code> call = Concurrently.start(() -> codeOf(() -> till.stickIn(server.pid())));
        server.awaitLine("stuck");
        server.terminate();
        server.awaitEnd();
        assertThat(call).succeedsWithin(BOUND).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(directory.toFile().list()).isNullOrEmpty();
    }

    @Test
    void shouldTellTheObserverOfACallThatCannotBegin() {
        serve(Till.class, new TillServer());
        RpcChannel channel = open(channel(Till.class));
        List<Status.Code> told = new CopyOnWriteArrayList<>();
        Till till = channel.stub(
                Till.class, CallOptions.DEFAULT.withObserver((status, trailers) -> told.add(status.code())));
        assertThat(till.pid()).isPositive();
        channel.close();
        assertFails(Status.Code.CANCELLED, till::pid);
        assertThat(told).containsExactly(Status.Code.OK, Status.Code.CANCELLED);
    }

    @Test
    void shouldSayItsState() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        RpcServer server = serve(serving(Till.class, new TillServer()).interceptor((_, next) -> {
            inside.countDown();
            Await.latch(end);
            next.run();
        }));
        List<RpcServer.State> states = new CopyOnWriteArrayList<>(List.of(server.state()));
        CompletableFuture<Boolean> watched = Concurrently.start(() -> {
            while (states.getLast() != RpcServer.State.CLOSED) {
                RpcServer.State now = server.state();
                if (now != states.getLast()) {
                    states.add(now);
                }
                Thread.onSpinWait();
            }
            return true;
        });
        RpcChannel channel = open(channel(Till.class));
        Till till = channel.stub(Till.class, within(BOUND));
        CompletableFuture<Long> call = Concurrently.start(till::pid);
        Await.latch(inside);
        Await.equal("calls", 1, server::callsUnderWay);
        CompletableFuture<Boolean> drained = Concurrently.start(() -> server.shutdown(BOUND));
        Await.equal("states", List.of(RpcServer.State.SERVING, RpcServer.State.DRAINING), () -> List.copyOf(states));
        // A shorter bound does not take time from the calls.
        server.shutdown(Duration.ofMillis(1));
        assertThat(server.state()).isEqualTo(RpcServer.State.DRAINING);
        assertThat(server.toString()).contains("draining");
        end.countDown();
        assertThat(drained).succeedsWithin(BOUND).isEqualTo(true);
        assertThat(call).succeedsWithin(BOUND);
        assertThat(server.state()).isEqualTo(RpcServer.State.CLOSED);
        assertThat(server.toString()).contains("closed");
        assertThat(watched).succeedsWithin(BOUND);
        assertThat(states).containsExactly(RpcServer.State.SERVING, RpcServer.State.DRAINING, RpcServer.State.CLOSED);
    }

    @Test
    void shouldShutDownOnAnInterruptedThread() throws Exception {
        TwoHosts hosts = keep(TwoHosts.create());
        assertShutsDownInterrupted(serving(Till.class, new TillServer()), channel(Till.class));
        assertShutsDownInterrupted(
                serving(Till.class, new TillServer()).pool(hosts.first()),
                RpcChannel.builder("/test/till").pool(hosts.second()));
    }

    private void assertShutsDownInterrupted(RpcServer.Builder serving, RpcChannel.Builder opening) {
        RpcServer server = serve(serving);
        assertThat(open(opening).stub(Till.class, within(BOUND)).pid()).isPositive();
        Thread.currentThread().interrupt();
        boolean drained = server.shutdown(Duration.ofSeconds(10));
        assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
        assertThat(drained).isTrue();
        assertThat(server.state()).isEqualTo(RpcServer.State.CLOSED);
    }

    /** It once took the interrupt for the end of the other thread's shutdown. */
    @Test
    void shouldWaitForAShutdownOnAnInterruptedThread() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        RpcServer server = serve(serving(Till.class, new TillServer()).interceptor((_, next) -> {
            inside.countDown();
            Await.latch(end);
            next.run();
        }));
        Till till = open(channel(Till.class)).stub(Till.class, within(BOUND));
        CompletableFuture<Long> call = Concurrently.start(till::pid);
        Await.latch(inside);
        CompletableFuture<Boolean> first = Concurrently.start(() -> server.shutdown(BOUND));
        Await.until("it drains", () -> server.state() != RpcServer.State.SERVING);
        AtomicReference<Thread> waiting = new AtomicReference<>();
        CompletableFuture<Boolean> second = Concurrently.start(() -> {
            waiting.set(Thread.currentThread());
            Thread.currentThread().interrupt();
            return server.shutdown(BOUND);
        });
        Await.until(
                "the second waits",
                () -> waiting.get() != null
                        && (second.isDone() || waiting.get().getState() == Thread.State.TIMED_WAITING));
        end.countDown();
        assertThat(first).succeedsWithin(BOUND).isEqualTo(true);
        assertThat(second).succeedsWithin(BOUND).isEqualTo(true);
        assertThat(call).succeedsWithin(BOUND);
    }

    @Test
    void shouldWaitForAServer() throws Exception {
        assertFails(Status.Code.NOT_FOUND, channel(Till.class)::open);
        assertFails(Status.Code.NOT_FOUND, channel(Till.class).waitForReady(Duration.ofMillis(50))::open);
        CompletableFuture<RpcChannel> opened =
                Concurrently.start(channel(Till.class).waitForReady(BOUND)::open);
        server();
        assertThat(opened).succeedsWithin(BOUND);
        assertThat(keep(opened.join()).stub(Till.class).pid()).isPositive();
    }

    @Test
    void shouldSayThatItWasInterruptedWhileItWaitedForAServer() {
        Thread.currentThread().interrupt();
        AbstractThrowableAssert<?, RpcException> failure =
                assertFails(Status.Code.CANCELLED, channel(Till.class).waitForReady(BOUND)::open);
        assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
        failure.hasMessageContainingAll("/test/till", "interrupted while it waited for a server");
    }

    @Test
    void shouldConnectALazyChannelAtItsFirstCall() throws Exception {
        RpcChannel channel = keep(channel(Till.class).openLazily());
        Till till = channel.stub(Till.class, within(BOUND));
        assertThat(channel.state()).isEqualTo(RpcChannel.State.IDLE);
        assertFails(Status.Code.UNAVAILABLE, till::pid)
                .hasMessageContainingAll("/test/till", "no server since it was opened");
        assertFails(Status.Code.UNAVAILABLE, channel::newScope);
        assertThat(channel.state()).isEqualTo(RpcChannel.State.TRANSIENT_FAILURE);
        ChildJvm server = server();
        assertThat(till.pid()).isEqualTo(server.pid());
        assertThat(channel.state()).isEqualTo(RpcChannel.State.READY);
        channel.newScope().close();
    }

    @Test
    void shouldCloseALazyChannelThatWasNeverUsed() {
        RpcChannel channel = channel(Till.class).openLazily();
        Till till = channel.stub(Till.class);
        channel.close();
        assertThat(channel.state()).isEqualTo(RpcChannel.State.CLOSED);
        assertFails(Status.Code.CANCELLED, till::pid);
    }

    @Test
    void shouldReportTheStatesOfAChannel() throws Exception {
        ChildJvm server = server();
        RpcChannel channel = open(channel(Till.class));
        List<RpcChannel.State> states = new CopyOnWriteArrayList<>();
        channel.onStateChange(states::add);
        assertThat(channel.state()).isEqualTo(RpcChannel.State.READY);
        // No call is made, but the death is still noticed.
        server.kill();
        Await.equal("states", List.of(RpcChannel.State.IDLE), () -> List.copyOf(states));
        Till till = channel.stub(Till.class, within(BOUND));
        assertThat(codeOf(till::pid)).isEqualTo(Status.Code.UNAVAILABLE);
        Await.equal("the state", RpcChannel.State.TRANSIENT_FAILURE, channel::state);
        server();
        assertThat(till.pid()).isPositive();
        assertThat(channel.state()).isEqualTo(RpcChannel.State.READY);
        channel.close();
        Await.equal("the last state", RpcChannel.State.CLOSED, states::getLast);
        assertThat(states)
                .containsSubsequence(
                        RpcChannel.State.IDLE,
                        RpcChannel.State.CONNECTING,
                        RpcChannel.State.TRANSIENT_FAILURE,
                        RpcChannel.State.CONNECTING,
                        RpcChannel.State.READY,
                        RpcChannel.State.CLOSED);
    }
}
