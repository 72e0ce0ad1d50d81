package dev.rackcall.rpc.surroundings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.Meter;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.os.Affinity;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Concurrently;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Calls of every kind between two processes that get less of the machine than others: one processor for both, little of
 * it, or long turns. The server may also be stopped for a while.
 */
class SurroundingsTest extends RpcFixture {
    enum Surrounding {
        ONE_PROCESSOR("taskset", "-c", Integer.toString(Affinity.ofProcess()[0])),
        NICE("nice", "-n", "10"),
        BATCH("chrt", "-b", "0");

        private final List<String> command;

        Surrounding(String... command) {
            this.command = List.of(command);
        }
    }

    private static final Duration SHORT = Duration.ofMillis(200);
    /** More than a connection has slots. */
    private static final int CALLERS = 200;

    private ChildJvm.Launch child(Surrounding surrounding, String what) {
        return ChildJvm.of(EveryCall.class, what, directory.resolve("run")).behind(surrounding.command);
    }

    /** Whether the command runs another one, which is harmless. */
    static boolean runs(List<String> command) throws InterruptedException {
        List<String> trial = new ArrayList<>(command);
        trial.add("true");
        try {
            return new ProcessBuilder(trial).start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    @ParameterizedTest
    @EnumSource
    @Timeout(300)
    void shouldAnswerEveryCall(Surrounding surrounding) throws Exception {
        assumeTrue(runs(surrounding.command), "NOT TESTED: cannot run '" + String.join(" ", surrounding.command) + "'");
        try (ChildJvm server = child(surrounding, "serve").start()) {
            server.awaitLine("serving");
            ChildJvm.Result calls = child(surrounding, "call").run();
            assertThat(calls.exitCode()).as(calls.output()).isZero();
            assertThat(calls.output()).contains("one-way calls", "lost 0");
            assertThat(server.end()).isZero();
            assertThat(server.output()).contains("lost 0");
        }
    }

    /** Calls that began before or while the server was stopped, and sleep on in the meantime. */
    @Test
    @Timeout(300)
    void shouldGoOnWithVirtualThreadsAndASentStream() throws Exception {
        try (ChildJvm server = ChildJvm.of(EveryCall.class, "serve", directory).start();
                RpcChannel channel = patient(Echo.class, server);
                RpcChannel meters = patient(Meter.class, server)) {
            Echo patient = channel.stub(Echo.class);
            assertThat(onVirtualThread(() -> patient.add(1, 1)))
                    .succeedsWithin(Await.BOUND)
                    .isEqualTo(2L);
            CountDownLatch half = new CountDownLatch(1);
            CountDownLatch stopped = new CountDownLatch(1);
            CompletableFuture<Meter.Summary> stream = Concurrently.start(() -> meters.stub(Meter.class)
                    .record("nobody", IntStream.range(0, 2_000).mapToObj(i -> {
                        if (i == 1_000) {
                            half.countDown();
                            Await.latch(stopped);
                        }
                        return new Meter.Reading("place " + i, i);
                    })));
            Await.latch(half);

            server.pause();
            stopped.countDown();
            Echo hurried = channel.stub(Echo.class, within(SHORT));
            assertThat(onVirtualThread(() -> codeOf(() -> hurried.add(1, 1))))
                    .succeedsWithin(Await.BOUND)
                    .isEqualTo(Status.Code.DEADLINE_EXCEEDED);
            List<CompletableFuture<Long>> sums = new ArrayList<>();
            for (long i = 0; i < CALLERS; i++) {
                long number = i;
                sums.add(onVirtualThread(() -> patient.add(number, number)));
            }
            assertThat(sums).noneMatch(CompletableFuture::isDone);
            assertThat(stream).isNotDone();

            server.resume();
            for (int i = 0; i < CALLERS; i++) {
                assertThat(sums.get(i)).succeedsWithin(Await.BOUND).isEqualTo(2L * i);
            }
            assertThat(stream)
                    .succeedsWithin(Await.BOUND)
                    .isEqualTo(new Meter.Summary(2_000, 2_000 * 1_999 / 2, "place 1999"));
            assertThat(server.end()).isZero();
            assertThat(server.output()).contains("lost 0");
        }
    }

    private RpcChannel patient(Class<?> service, ChildJvm server) throws InterruptedException {
        if (!server.output().contains("serving")) {
            server.awaitLine("serving");
        }
        return channel(service).defaultTimeout(Duration.ofMinutes(5)).open();
    }

    private static <T> CompletableFuture<T> onVirtualThread(Supplier<T> work) {
        return CompletableFuture.supplyAsync(work, Thread::startVirtualThread);
    }
}
