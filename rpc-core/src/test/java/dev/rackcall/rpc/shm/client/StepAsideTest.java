package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.shm.os.Affinity;
import dev.rackcall.shm.os.Processor;
import dev.rackcall.shm.waiting.WaitCounts;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a caller does that waits on the processor of its server. */
@Timeout(200)
class StepAsideTest {
    private static final MethodDescriptor METHOD =
            HostileScript.service("/test/echo").methods().getFirst();
    /** Longer than a caller polls before it looks where the server is. */
    private static final long HANDLER_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    @TempDir
    Path directory;

    private static void call(ShmClientConnection connection) {
        ClientCall call = connection.begin(METHOD, 0, Metadata.EMPTY, Isolation.TRUSTED, CallObserver.NONE);
        call.arguments().writeLong(1);
        assertThat(call.invoke().readLong()).isEqualTo(0);
        call.close();
    }

    private static void answer(long ticket, long slot, MemorySegment memory) {
        LockSupport.parkNanos(HANDLER_NANOS);
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, slot + SlotLayout.RESPONSE_INLINE, 0);
        SlotLayout.publishResponse(memory, slot, SlotLayout.word(ticket, 0, 0, Long.BYTES));
    }

    /** Runs the case on a thread of its own, whose processors it may change. */
    private void withServer(Consumer<ShmClientConnection> test) throws Exception {
        assumeThat(Affinity.ofProcess().length).isGreaterThan(1);
        try (LyingServer server = new LyingServer(directory, HostileScript.service("/test/echo"))) {
            server.answer(StepAsideTest::answer);
            ShmClientConnection connection = LyingServer.connect("/test/echo", directory, Await.BOUND);
            try {
                connection.use(HostileScript.service("/test/echo"));
                Concurrently.run(1, _ -> test.accept(connection));
            } finally {
                connection.close();
            }
        }
    }

    @Test
    void shouldMoveABusyCallerToAnotherProcessorAndLeaveItAllOfThem() throws Exception {
        withServer(connection -> {
            long before = WaitCounts.of(WaitCounts.Kind.MOVED_ASIDE);
            Await.until("the caller moves", () -> {
                // The second of two calls is one of a busy caller. The kernel may move the thread in between.
                for (int i = 0; i < 2; i++) {
                    ControlLayout.processor(connection.memory, Processor.current());
                    call(connection);
                }
                return WaitCounts.of(WaitCounts.Kind.MOVED_ASIDE) > before;
            });
            assertThat(Affinity.available()).isEqualTo(Affinity.ofProcess());
        });
    }

    @Test
    void shouldYieldToAServerThatYieldsWhereItCannotMove() throws Exception {
        withServer(connection -> {
            int processor = Processor.current();
            Affinity.pin(processor);
            ControlLayout.processor(connection.memory, processor);
            long moves = WaitCounts.of(WaitCounts.Kind.MOVED_ASIDE);
            ControlLayout.yields(connection.memory, true);
            long before = WaitCounts.of(WaitCounts.Kind.YIELDED);
            Await.until("the caller yields", () -> {
                call(connection);
                return WaitCounts.of(WaitCounts.Kind.YIELDED) > before;
            });
            assertThat(ControlLayout.caller(connection.memory))
                    .as("the server knows")
                    .isEqualTo(processor);
            assertThat(WaitCounts.of(WaitCounts.Kind.MOVED_ASIDE)).isEqualTo(moves);
        });
    }
}
