package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import dev.rackcall.testkit.Usage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Finished calls leave nothing in a connection's memory and slots. Small quotas make any leak show soon. */
class LeftoverTest extends RpcFixture {
    private static final int SMALL_QUOTA = 64 << 10;
    private static final int MANY = 60;

    private final List<Status.Code> told = Collections.synchronizedList(new ArrayList<>());
    private final Holding service = new Holding();

    private RpcServer start(RpcServer.Builder builder) {
        return serve(builder.service(Echo.class, service)
                .service(Library.class, new LibraryService())
                .runtimeFolder(directory));
    }

    private static CallOptions within(int millis) {
        return within(Duration.ofMillis(millis));
    }

    @Test
    void shouldGiveBackLargeAnswersOnceTheyAreRead() {
        start(RpcServer.builder());
        Echo echo = open(channel("/test/echo").arenaQuota(32 << 20)).stub(Echo.class);
        byte[] value = new byte[3 << 20];
        for (int i = 0; i < MANY; i++) {
            assertThat(echo.bytes(value)).hasSize(value.length);
        }
    }

    /** Holds a handler until its caller has timed out. */
    private void untilUnwanted(RpcContext call, Runnable next) {
        if (holding) {
            // Not isCancelled: a handler that has asked for it returns no result.
            while (!call.deadline().orElseThrow().isExpired()) {
                LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(50));
            }
        }
        next.run();
    }

    private volatile boolean holding = true;

    @Test
    void shouldCloseWhatACallReturnsAfterItsCallerGaveUp() {
        start(RpcServer.builder().dispatch(Dispatch.virtualThreads()).interceptor(this::untilUnwanted));
        RpcChannel channel = open(channel("/test/library").arenaQuota(SMALL_QUOTA));
        for (int i = 0; i < MANY; i++) {
            try {
                channel.release(channel.stub(Library.class, within(2)).write("late", 1));
            } catch (RpcException e) {
                // On a busy machine calls that were given up still hold all slots.
                boolean isLate = e.code() == Status.Code.DEADLINE_EXCEEDED
                        || e.getMessage().contains("slots were taken until the deadline");
                assertThat(isLate).as("%s", e).isTrue();
            }
        }
        holding = false;
        assertThat(channel.stub(Library.class).write("in time", 1).title()).isEqualTo("in time");
    }

    @Test
    void shouldReleaseResultsThoughAllSlotsAreTaken() throws Exception {
        CountDownLatch[] held = new CountDownLatch[1];
        start(RpcServer.builder().dispatch(Dispatch.virtualThreads()).interceptor((call, next) -> {
            if (call.method().name().equals("kept")) {
                Await.latch(held[0]);
            }
            next.run();
        }));
        RpcChannel channel = open(channel("/test/library").slots(2).arenaQuota(SMALL_QUOTA));
        Library library = channel.stub(Library.class);
        for (int i = 0; i < 2 * MANY; i++) {
            Library.Book book = library.write("held", 1);
            held[0] = new CountDownLatch(1);
            CompletableFuture<?> first = Concurrently.start(library::kept);
            CompletableFuture<?> second = Concurrently.start(library::kept);
            channel.release(book);
            held[0].countDown();
            CompletableFuture.allOf(first, second).get(30, TimeUnit.SECONDS);
        }
    }

    /** Threads that wait for a slot must not take each slot that becomes free before the releases. */
    @Test
    void shouldReleaseResultsThoughThreadsWaitForSlots() {
        start(RpcServer.builder());
        RpcChannel channel = open(channel("/test/library").slots(2).arenaQuota(SMALL_QUOTA));
        Library library = channel.stub(Library.class);
        List<CompletableFuture<Boolean>> callers = new ArrayList<>();
        for (int caller = 0; caller < 8; caller++) {
            callers.add(Concurrently.start(() -> {
                for (int i = 0; i < 10 * MANY; i++) {
                    channel.release(library.write("held", 1));
                }
                return true;
            }));
        }
        callers.forEach(caller -> assertThat(caller).succeedsWithin(Await.BOUND));
    }

    @Test
    void shouldCancelCallsThatHoldAllSlots() {
        start(RpcServer.builder().dispatch(Dispatch.virtualThreads()));
        RpcChannel channel = open(channel("/test/echo").slots(2).defaultTimeout(Duration.ofSeconds(30)));
        Echo hurried = channel.stub(Echo.class, within(1_500));
        Echo patient = channel.stub(Echo.class);
        assertThat(patient.add(1, 1)).isEqualTo(2);
        // Again: on a busy machine a deadline may pass before the handler has begun.
        Await.until("handlers of all slots", () -> {
            int before = service.blocking.get();
            CompletableFuture<Status.Code> first = Concurrently.start(() -> codeOf(() -> hurried.block(60_000)));
            CompletableFuture<Status.Code> second = Concurrently.start(() -> codeOf(() -> hurried.block(60_000)));
            assertThat(first.join()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
            assertThat(second.join()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
            assertThat(patient.add(1, 2)).isEqualTo(3);
            Await.until("all handlers are cancelled", () -> service.cancelled.get() == service.blocking.get());
            return service.blocking.get() == before + 2;
        });
    }

    @Test
    void shouldForgetAClientThatIsGoneThoughItsCallsNeverEnd() {
        RpcServer server = start(RpcServer.builder().interceptor((call, next) -> {
            call.onEnd((status, trailers) -> told.add(status.code()));
            next.run();
        }));
        channel("/test/echo").open().close();
        Await.equal("connections", 0, server::connections);
        Map<String, Integer> before = Usage.now();
        RpcChannel other = channel("/test/echo").open();
        CompletableFuture<Integer> unanswered = other.stub(Echo.class).later(1, 30_000);
        Await.equal("calls that wait", 1, service.waiting::size);
        other.close();
        assertThat(unanswered).isCompletedExceptionally();
        Await.equal("connections", 0, server::connections);
        Await.equal("what is left of the connection", Map.of(), () -> Usage.grownSince(before));
        assertThat(told).isEmpty();
        service.waiting.remove().complete(5);
        assertThat(told).containsExactly(Status.Code.CANCELLED);
    }

    /** The test completes its futures. */
    private static final class Holding extends EchoService {
        private final Queue<CompletableFuture<Integer>> waiting = new ConcurrentLinkedQueue<>();

        @Override
        public CompletableFuture<Integer> later(int value, int millis) {
            CompletableFuture<Integer> result = new CompletableFuture<>();
            waiting.add(result);
            return result;
        }
    }
}
