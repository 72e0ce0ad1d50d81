package dev.rackcall.rpc.shm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Await;
import dev.rackcall.rpc.Catalogue;
import dev.rackcall.rpc.ChildJvm;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Echo;
import dev.rackcall.rpc.HostileTarget;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Usage;
import dev.rackcall.shm.Scope;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A client, in a process of its own, that does whatever it can to its server, while an honest one calls on: the server answers the honest one,
 * always right, and has lost nothing when the other is gone. {@code -Drackcall.cases=100000} runs so many cases instead of a few
 * thousand; {@code -Drackcall.seed} repeats what a failure has printed.
 */
@Timeout(3600)
class HostilePeerTest {
    private static final int CASES = Integer.getInteger("rackcall.cases", 1000);
    private static final int STOPS = 6;
    private static final int KEPT_LATENCIES = 1 << 20;

    @TempDir
    Path directory;

    private final long seed = Long.getLong("rackcall.seed", System.nanoTime() & Integer.MAX_VALUE);

    @ParameterizedTest
    @ValueSource(strings = {"direct", "workers"})
    void shouldServeOthersWhateverOneClientDoes(String how) throws Exception {
        System.out.println("HostilePeerTest " + how + ": -Drackcall.seed=" + seed);
        try (RpcServer server = HostileTarget.start(directory, dispatch(how));
                HonestClient honest = new HonestClient()) {
            attack(50);
            honest.awaitProgress();
            long before = honest.percentile99();
            Map<String, Integer> usage = Usage.now();
            attack(CASES);
            honest.awaitProgress();
            System.out.printf(
                    "HostilePeerTest %s: an honest client's p99 was %d us before and %d us under attack%n",
                    how, before / 1000, honest.percentile99() / 1000);
            Await.equal("connections, seed " + seed, 2, server::connections);
            Await.equal("left by the attacker, seed " + seed, Map.of(), () -> Usage.grownSince(usage));
            honest.close();
            assertThat(honest.wrong()).as("seed %d", seed).isEmpty();
        }
        assertThat(directory.toFile().list()).isNullOrEmpty();
    }

    private static Dispatch dispatch(String how) {
        return how.equals("direct") ? Dispatch.direct() : Dispatch.workers(2);
    }

    private void attack(int cases) throws Exception {
        try (ChildJvm attacker = ChildJvm.start(
                HostileClient.class, directory, directory.toString(), Long.toString(seed), Integer.toString(cases))) {
            String line = attacker.awaitLine("");
            while (!line.startsWith("done")) {
                assertThat(line).as("seed %d", seed).doesNotStartWith("failed");
                line = attacker.awaitLine("");
            }
            assertThat(attacker.end()).isZero();
        }
    }

    /** Stopped, it is only slow; killed, it is gone: in whatever it was doing. */
    @Test
    void shouldServeOthersWhenAttackersStopOrDie() throws Exception {
        Random random = new Random(seed);
        try (RpcServer server = HostileTarget.start(directory, Dispatch.direct());
                HonestClient honest = new HonestClient()) {
            attack(1);
            honest.awaitProgress();
            Map<String, Integer> usage = Usage.now();
            for (int i = 0; i < STOPS; i++) {
                long first = seed + 1000L * i;
                try (ChildJvm attacker = ChildJvm.start(
                        HostileClient.class, directory, directory.toString(), Long.toString(first), "1000000")) {
                    attacker.awaitLine("attacking");
                    LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(300_000)));
                    attacker.pause();
                    honest.awaitProgress();
                    if (i % 2 == 0) {
                        attacker.resume();
                        honest.awaitProgress();
                    }
                    attacker.kill();
                }
                honest.awaitProgress();
            }
            Await.equal("connections, seed " + seed, 2, server::connections);
            Await.equal("left by the attackers, seed " + seed, Map.of(), () -> Usage.grownSince(usage));
            honest.close();
            assertThat(honest.wrong()).as("seed %d", seed).isEmpty();
        }
    }

    /** Calls on and on and checks every answer. Its memory is full of what nobody else may see. */
    private final class HonestClient implements AutoCloseable {
        private final AtomicReference<Throwable> wrong = new AtomicReference<>();
        private final AtomicLong calls = new AtomicLong();
        private final long[] latencies = new long[KEPT_LATENCIES];
        private final Thread thread;
        private volatile boolean stopping;

        HonestClient() {
            thread = Thread.ofPlatform().name("honest").start(this::run);
        }

        private void run() {
            try (RpcChannel echoChannel = RpcChannel.builder("/test/echo")
                            .directory(directory)
                            .open();
                    RpcChannel catalogueChannel = RpcChannel.builder("/test/catalogue")
                            .directory(directory)
                            .open();
                    Scope scope = catalogueChannel.newScope()) {
                Echo echo = echoChannel.stub(Echo.class);
                Catalogue catalogue = catalogueChannel.stub(Catalogue.class);
                Catalogue.Node graph = HostileTarget.graph(scope, HostileConnection.CANARY, 8);
                long sum = catalogue.walk(graph);
                Random random = new Random(seed);
                while (!stopping) {
                    long start = System.nanoTime();
                    call(echo, random);
                    check(catalogue.walk(graph) == sum, "a graph");
                    latencies[(int) calls.getAndIncrement() & (KEPT_LATENCIES - 1)] = System.nanoTime() - start;
                }
            } catch (Throwable t) {
                wrong.compareAndSet(null, t);
            }
        }

        private void call(Echo echo, Random random) {
            long number = random.nextLong();
            check(echo.add(number, 1) == number + 1, "a sum");
            byte[] bytes = (HostileConnection.CANARY + number)
                    .repeat(1 + random.nextInt(20))
                    .getBytes(UTF_8);
            check(Arrays.equals(echo.bytes(bytes), bytes), "bytes");
            Echo.Parcel parcel = new Echo.Parcel(
                    HostileConnection.CANARY + number,
                    1,
                    Echo.Kind.LETTER,
                    List.of(1.5),
                    Map.of(HostileConnection.CANARY, number),
                    Optional.of("note"));
            check(echo.parcel(parcel).equals(parcel), "a parcel");
            int length = random.nextInt(200);
            List<Integer> counted = new ArrayList<>();
            echo.count(0, length).forEach(counted::add);
            check(counted.size() == length, "a stream");
        }

        private static void check(boolean right, String what) {
            if (!right) {
                throw new AssertionError(what + " came back wrong");
            }
        }

        void awaitProgress() {
            long before = calls.get();
            Await.until(
                    "the honest client's progress, seed " + seed + ", after " + wrong.get(),
                    () -> calls.get() > before + 2 || wrong.get() != null);
            assertThat(wrong()).as("seed %d", seed).isEmpty();
        }

        Optional<Throwable> wrong() {
            return Optional.ofNullable(wrong.get());
        }

        /** Of the rounds since the last time, in nanoseconds. */
        long percentile99() {
            int count = (int) Math.min(calls.getAndSet(0), KEPT_LATENCIES);
            long[] sorted = Arrays.copyOf(latencies, count);
            Arrays.sort(sorted);
            return count == 0 ? 0 : sorted[(int) (count * 0.99)];
        }

        @Override
        public void close() throws InterruptedException {
            stopping = true;
            thread.join(Duration.ofSeconds(60));
            assertThat(thread.isAlive()).as("the honest client hangs").isFalse();
        }
    }
}
