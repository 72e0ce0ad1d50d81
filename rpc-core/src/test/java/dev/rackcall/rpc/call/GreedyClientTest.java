package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A client with many slow calls waits for its own calls. Other clients are served in the meantime, although one thread
 * runs all handlers.
 */
class GreedyClientTest extends RpcFixture {
    private static final int SLOTS = 64;
    /** At most this many handlers of one client may be stuck at once. */
    private static final int MOST_STUCK = 8;

    private final EchoService service = new EchoService();
    private final AtomicInteger slow = new AtomicInteger();
    private final List<Thread> callers = new ArrayList<>();

    private void start(Duration stuckAfter) {
        serve(serving(Echo.class, service)
                .interceptor((call, next) -> {
                    if (call.method().name().equals("block")) {
                        slow.incrementAndGet();
                    }
                    next.run();
                })
                .stuckAfter(stuckAfter));
    }

    @AfterEach
    void stop() throws InterruptedException {
        for (Thread caller : callers) {
            caller.join();
        }
    }

    private RpcChannel open() {
        return channel(Echo.class)
                .slots(SLOTS)
                .defaultTimeout(Duration.ofSeconds(80))
                .open();
    }

    private void callSlowly(RpcChannel channel, int calls, long millis) {
        Echo echo = channel.stub(Echo.class);
        for (int i = 0; i < calls; i++) {
            callers.add(Thread.startVirtualThread(() -> {
                try {
                    echo.block(millis);
                } catch (RpcException e) {
                    assertThat(e.code()).isIn(Status.Code.CANCELLED, Status.Code.UNAVAILABLE);
                }
            }));
        }
    }

    @Test
    void shouldNotGiveAllThreadsToAClientWhoseCallsNeverEnd() {
        start(Duration.ofMillis(5));
        try (RpcChannel greedy = open();
                RpcChannel other = open()) {
            callSlowly(greedy, 40, 60_000);
            Await.equal("handlers that are stuck", MOST_STUCK, service.blocking::get);
            Echo echo = other.stub(Echo.class);
            for (int i = 0; i < 1000; i++) {
                assertThat(echo.add(i, 1)).isEqualTo(i + 1);
            }
            assertThat(service.blocking.get()).isEqualTo(MOST_STUCK);
        }
        Await.equal("handlers that were told", MOST_STUCK, service.cancelled::get);
    }

    @Test
    void shouldServeAllCallsOfAClientOnceItsStuckHandlersComeBack() {
        start(Duration.ofMillis(5));
        try (RpcChannel greedy = open()) {
            callSlowly(greedy, 30, 100);
            Await.equal("calls that were served", 30, service.blocking::get);
            assertThat(greedy.stub(Echo.class).add(1, 2)).isEqualTo(3);
        }
    }

    @Test
    void shouldTurnToOthersThoughOneClientAlwaysHasMoreRequests() {
        start(Duration.ofSeconds(20));
        try (RpcChannel greedy = open();
                RpcChannel other = open()) {
            Echo echo = other.stub(Echo.class);
            assertThat(echo.add(1, 1)).isEqualTo(2);
            // Long enough that the machine may take this thread's processor for a while.
            callSlowly(greedy, SLOTS, 200);
            Await.until("the first slow call", () -> slow.get() > 0);
            int before = slow.get();
            assertThat(echo.add(2, 2)).isEqualTo(4);
            // If a turn had no bound, all of these would be served first.
            assertThat(slow.get() - before).isLessThan(SLOTS / 2);
        }
    }
}
