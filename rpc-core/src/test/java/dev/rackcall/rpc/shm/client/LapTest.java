package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.CallContractTest.HoldingService;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests go round few slots while few calls are in flight, and round all slots otherwise. */
@Timeout(200)
class LapTest extends RpcFixture {
    private static final int SLOTS = 64;
    private static final int NARROW = ControlLayout.NARROW_SLOTS;
    private static final ServiceDefinition<Echo> ECHO = ServiceDefinition.of(Echo.class);

    /** Each number of calls between two changes comes twice. On a busy machine a round takes a second or more. */
    private static final int ROUNDS = 4 * NARROW;

    private ShmClientConnection connection;

    /** A stub that calls over {@link #connection}. */
    private Echo echo() {
        serve(Echo.class, new EchoService());
        return connect();
    }

    private Echo connect() {
        connection = keep(LyingServer.connect("/test/echo", directory, Await.BOUND));
        connection.use(ECHO);
        return stub(Await.BOUND);
    }

    private Echo stub(Duration timeout) {
        return ECHO.stub(method -> connection.begin(
                method, System.nanoTime() + timeout.toNanos(), Metadata.EMPTY, Isolation.TRUSTED, CallObserver.NONE));
    }

    private static void callOneByOne(Echo echo, int times) {
        for (int i = 0; i < times; i++) {
            assertThat(echo.add(i, 1)).isEqualTo(i + 1L);
        }
    }

    private static void callAtOnce(Echo echo, int times) {
        List<CompletableFuture<Integer>> answers = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            answers.add(echo.later(i, 20));
        }
        for (int i = 0; i < times; i++) {
            assertThat(answers.get(i)).succeedsWithin(Await.BOUND).isEqualTo(i);
        }
    }

    private int usedSlots() {
        int used = 0;
        for (ShmClientCall call : connection.slots.all()) {
            used += call.ticket() >= 0 && call.ticket() < Long.MAX_VALUE >>> 3 ? 1 : 0;
        }
        return used;
    }

    @Test
    void shouldUseFewSlotsForCallsOneByOne() {
        Echo echo = echo();
        callOneByOne(echo, 1_000);
        assertThat(usedSlots()).isEqualTo(NARROW);
        assertThat(connection.slots.isNarrow()).isTrue();
    }

    @Test
    void shouldUseAllSlotsForCallsAtOnceAndFewAgainAfterwards() {
        HoldingService service = new HoldingService();
        serve(Echo.class, service);
        Echo echo = connect();
        for (int i = 0; i < ROUNDS; i++) {
            List<CompletableFuture<Integer>> answers = new ArrayList<>();
            // The server answers none before the last is made.
            while (answers.size() < 60) {
                answers.add(echo.later(0, 0));
            }
            Await.until("all answers", () -> {
                service.letGo();
                return answers.stream().allMatch(CompletableFuture::isDone);
            });
            assertThat(connection.slots.isNarrow()).as("round %d", i).isFalse();
            Await.until("laps are narrow again", () -> {
                callOneByOne(echo, SLOTS);
                return connection.slots.isNarrow();
            });
            callOneByOne(echo, i % (2 * NARROW));
        }
    }

    /** Few threads make laps wide and narrow all the time, at any turn. */
    @Test
    void shouldLoseNoCallWhenLapsChange() {
        Echo echo = echo();
        for (int threads : new int[] {2, 4, 9, 20}) {
            Concurrently.run(threads, thread -> {
                for (int i = 0; i < 300; i++) {
                    if ((i + thread) % 50 == 0) {
                        callAtOnce(echo, 30);
                    } else if (i % 7 == thread) {
                        echo.note("one way");
                    } else {
                        callOneByOne(echo, 20);
                    }
                }
            });
        }
    }

    /** The turn at which laps become wide may have the slot that it would have in a narrow lap. */
    @Test
    void shouldSayThatTheServerTookNoRequestsWhileSlotsWereFree() throws Exception {
        CountDownLatch blocks = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        serve(serving(Echo.class, new EchoService())
                .stuckAfter(Duration.ofMinutes(5))
                .interceptor((call, next) -> {
                    if (call.method().name().equals("nothing")) {
                        blocks.countDown();
                        Await.latch(end);
                    }
                    next.run();
                }));
        Echo echo = connect();
        while (SlotTurns.ticketOf(connection.slots.turn()) % SLOTS != SLOTS - NARROW) {
            callOneByOne(echo, 1);
        }
        CompletableFuture<Void> blocked = CompletableFuture.runAsync(echo::nothing);
        try {
            Await.latch(blocks);
            for (int i = 1; i < NARROW; i++) {
                echo.note("waits");
            }
            assertFails(
                            Status.Code.DEADLINE_EXCEEDED,
                            () -> stub(Duration.ofSeconds(1)).add(1, 2))
                    .hasMessageContainingAll("the server had not taken earlier calls", "8 of 64 slots");
        } finally {
            end.countDown();
        }
        assertThat(blocked).succeedsWithin(Await.BOUND);
        callOneByOne(echo, SLOTS);
    }

    @Test
    void shouldCountTheLastChangeUpToTheRequest() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(ControlLayout.PAGE, 64);
            assertThat(ControlLayout.lap(memory, 0, SLOTS)).isEqualTo(SLOTS);
            assertThat(ControlLayout.narrowFrom(memory, 0)).isTrue();
            assertThat(ControlLayout.narrowFrom(memory, 0)).as("again").isFalse();
            assertThat(ControlLayout.lap(memory, 0, SLOTS)).isEqualTo(NARROW);
            ControlLayout.wideFrom(memory, 100);
            assertThat(ControlLayout.lap(memory, 99, SLOTS)).isEqualTo(NARROW);
            assertThat(ControlLayout.lap(memory, 100, SLOTS)).isEqualTo(SLOTS);
            ControlLayout.narrowFrom(memory, 192);
            assertThat(ControlLayout.lap(memory, 192, SLOTS)).isEqualTo(NARROW);
            ControlLayout.wideFrom(memory, 192);
            assertThat(ControlLayout.lap(memory, 192, SLOTS)).as("both at once").isEqualTo(SLOTS);
            ControlLayout.narrowFrom(memory, 256);
            ControlLayout.narrowFrom(memory, 192);
            assertThat(ControlLayout.lap(memory, 256, SLOTS)).as("a late store").isEqualTo(NARROW);
        }
    }
}
