package dev.rackcall.rpc.shm.client;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.shm.os.Affinity;
import dev.rackcall.shm.os.Processor;
import dev.rackcall.shm.waiting.Processors;
import dev.rackcall.shm.waiting.SpinLimit;
import dev.rackcall.shm.waiting.Spinning;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a thread polls that waits for a future: not for longer than it waits. */
class FutureWaitTest {
    private static final MethodDescriptor METHOD =
            HostileScript.service("/test/echo").methods().getFirst();
    /** A poll is counted once in some rounds; one that takes no account of the time goes on for a thousand. */
    private static final int FEW = 10;

    @TempDir
    Path directory;

    @Test
    void shouldPollNoLongerThanItWaits() throws Exception {
        withUnanswered((connection, future) -> {
            int before = connection.async.helped();
            assertThatThrownBy(() -> future.get(0, TimeUnit.NANOSECONDS)).isInstanceOf(TimeoutException.class);
            assertThat(connection.async.helped() - before).isLessThan(FEW);
            // Given time; on a busy machine 10 ms may pass without this thread.
            for (long millis = 10; connection.async.helped() - before <= FEW; millis *= 2) {
                long wait = millis;
                assertThat(wait).isLessThan(10_000);
                assertThrown(TimeoutException.class, () -> future.get(wait, TimeUnit.MILLISECONDS));
            }
        });
    }

    /** The reactor and threads of earlier tests may spin for a moment. */
    private static void awaitNoSpinning() {
        Await.until("no thread to count as one that spins", () -> SpinLimit.enter(1));
        SpinLimit.leave();
    }

    @Test
    void shouldPollOnceOnTheServersProcessor() throws Exception {
        assumeThat(Spinning.alwaysShares()).isFalse();
        withUnanswered((connection, future) -> Concurrently.run(1, thread -> {
            // A pinned thread cannot move aside.
            int processor = Processor.current();
            Affinity.pin(processor);
            ControlLayout.processor(connection.memory, processor);
            awaitNoSpinning();
            assertThat(polls(connection, future)).isOne();
            assertThat(ControlLayout.caller(connection.memory))
                    .as("the server knows")
                    .isEqualTo(processor);
        }));
    }

    /** The reactor must not take it for a thread that polls, and takes the answer itself. */
    @Test
    void shouldNotHelpBesideAsManySpinningThreadsAsProcessors() throws Exception {
        withUnanswered((connection, future) -> {
            int entered = 0;
            while (entered < Processors.count()) {
                // The reactor may spin just now; then there is one less.
                entered += SpinLimit.enter(Processors.count()) ? 1 : 0;
            }
            try {
                assertThat(polls(connection, future)).isZero();
            } finally {
                for (int i = 0; i < entered; i++) {
                    SpinLimit.leave();
                }
            }
        });
    }

    /** A future whose answer has come. */
    private static final class Answered extends PolledFuture<Long> {
        private boolean finished;

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
            return true;
        }

        @Override
        void finishTaken() {
            awaitNoSpinning();
            finished = true;
        }

        @Override
        void abandon(String how) {}
    }

    @Test
    void shouldNotCountAsSpinningWhileStagesRun() throws Exception {
        withUnanswered((connection, future) -> {
            Answered answered = new Answered();
            connection.async.help(answered, System.nanoTime() + Await.BOUND.toNanos());
            assertThat(answered.finished).isTrue();
        });
    }

    /** How often a thread polls that waits for the future until it gives up. */
    private static int polls(ShmClientConnection connection, CompletableFuture<Long> future) {
        int before = connection.async.helped();
        assertThatThrownBy(() -> future.get(1, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);
        return connection.async.helped() - before;
    }

    private interface Case {
        void test(ShmClientConnection connection, CompletableFuture<Long> future) throws Exception;
    }

    private void withUnanswered(Case unanswered) throws Exception {
        try (LyingServer server = new LyingServer(directory, HostileScript.service("/test/echo"))) {
            server.answer((ticket, slot, memory) -> {});
            ShmClientConnection connection = LyingServer.connect("/test/echo", directory, Duration.ofSeconds(20));
            try {
                connection.use(HostileScript.service("/test/echo"));
                ClientCall call = connection.begin(METHOD, 0, Metadata.EMPTY, Isolation.TRUSTED, CallObserver.NONE);
                call.arguments().writeLong(1);
                unanswered.test(connection, call.invokeAsync((in, of) -> in.readLong()));
            } finally {
                connection.close();
            }
        }
    }
}
