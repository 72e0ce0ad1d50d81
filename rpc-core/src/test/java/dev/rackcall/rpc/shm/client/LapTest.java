package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests go round few slots while few calls are in flight, and round all slots otherwise. */
@Timeout(200)
class LapTest extends RpcFixture {
    private static final int SLOTS = 64;
    private static final int NARROW = ControlLayout.NARROW_SLOTS;

    private ShmClientConnection connection;

    /** A stub that calls over {@link #connection}. */
    private Echo echo() {
        serve(Echo.class, new EchoService());
        connection = keep(LyingServer.connect("/test/echo", directory, Await.BOUND));
        ServiceDefinition<Echo> definition = ServiceDefinition.of(Echo.class);
        connection.use(definition);
        return definition.stub(method -> connection.begin(
                method,
                System.nanoTime() + Await.BOUND.toNanos(),
                Metadata.EMPTY,
                Isolation.TRUSTED,
                CallObserver.NONE));
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
        Echo echo = echo();
        for (int i = 0; i < 200; i++) {
            callAtOnce(echo, 60);
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

    @Test
    void shouldCountTheLastChangeUpToTheRequest() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(ControlLayout.PAGE, 64);
            assertThat(ControlLayout.lap(memory, 0, SLOTS)).isEqualTo(SLOTS);
            ControlLayout.narrowFrom(memory, 0);
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
