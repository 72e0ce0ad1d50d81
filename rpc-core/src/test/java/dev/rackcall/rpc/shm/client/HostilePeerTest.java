package dev.rackcall.rpc.shm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.hostile.Catalogue;
import dev.rackcall.rpc.hostile.HostileTarget;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeException;
import dev.rackcall.shm.types.SharedDataException;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Usage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A client, in a process of its own, that does whatever it can to its server, while an honest one calls on: the server
 * answers the honest one, always right, and has lost nothing when the other is gone. {@code -Drackcall.cases=100000}
 * runs this many cases instead of a few hundred; {@code -Drackcall.seed} repeats what a failure has printed.
 */
@Timeout(3600)
class HostilePeerTest extends RpcFixture {
    private static final int CASES = Integer.getInteger("rackcall.cases", 300);
    private static final int STOPS = 6;
    private static final Duration START_BOUND = Duration.ofMinutes(2);
    private static final int KEPT_LATENCIES = 1 << 20;

    private final long seed = Long.getLong("rackcall.seed", System.nanoTime() & Integer.MAX_VALUE);

    @ParameterizedTest
    @ValueSource(strings = {"direct", "workers"})
    void shouldServeOthersWhateverOneClientDoes(String how) throws Exception {
        System.out.println("HostilePeerTest " + how + ": -Drackcall.seed=" + seed);
        try (RpcServer server = HostileTarget.start(directory, dispatch(how));
                Attackers attackers = attackers(new Attack(seed, 50, "any"), new Attack(seed, CASES, "any"));
                HonestClient honest = started(new HonestClient())) {
            attackers.attack();
            honest.awaitProgress();
            long before = honest.percentile99();
            Map<String, Integer> usage = Usage.now();
            attackers.attack();
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

    /**
     * Each client can spoil the arena that all clients of a channel share. Its users then see wrong values and
     * exceptions that say so, but no endless waits. Calls by value and in private arenas stay right.
     */
    @Test
    void shouldServeClientsOfTheSharedArenaWhileOneSpoilsIt() throws Exception {
        try (RpcServer server = HostileTarget.start(directory, Dispatch.direct());
                Attackers attackers = attackers(new Attack(seed, 50, "shared"), new Attack(seed, CASES / 2, "shared"));
                HonestClient honest = started(new HonestClient());
                SharingClient sharing = started(new SharingClient())) {
            attackers.attack();
            sharing.awaitProgress();
            Map<String, Integer> usage = Usage.now();
            attackers.attack();
            sharing.awaitProgress();
            honest.awaitProgress();
            Await.equal("left by the attacker, seed " + seed, Map.of(), () -> Usage.grownSince(usage));
            sharing.close();
            honest.close();
            assertThat(honest.wrong()).as("seed %d", seed).isEmpty();
            assertThat(sharing.wrong()).as("seed %d", seed).isEmpty();
            Await.equal("connections, seed " + seed, 0, server::connections);
        }
    }

    /** Stopped, it is only slow; killed, it is gone: in whatever it was doing. */
    @Test
    void shouldServeOthersWhenAttackersStopOrDie() throws Exception {
        Random random = new Random(seed);
        List<Attack> attacks = new ArrayList<>(List.of(new Attack(seed, 1, "any")));
        for (int i = 0; i < STOPS; i++) {
            attacks.add(new Attack(seed + 1000L * i, 1_000_000, "any"));
        }
        try (RpcServer server = HostileTarget.start(directory, Dispatch.direct());
                Attackers attackers = attackers(attacks.toArray(Attack[]::new));
                HonestClient honest = started(new HonestClient())) {
            attackers.attack();
            honest.awaitProgress();
            Map<String, Integer> usage = Usage.now();
            for (int i = 0; i < STOPS; i++) {
                try (ChildJvm attacker = attackers.next()) {
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

    /** What one process does: so many cases from a seed on, to everything or to what is shared. */
    private record Attack(long first, int cases, String what) {}

    /** Starts processes and returns when they are ready to attack. */
    private Attackers attackers(Attack... attacks) throws Exception {
        Attackers made = new Attackers();
        try {
            for (Attack attack : attacks) {
                made.waiting.add(ChildJvm.start(
                        HostileClient.class,
                        directory,
                        directory.toString(),
                        Long.toString(attack.first()),
                        Integer.toString(attack.cases()),
                        attack.what()));
            }
            for (ChildJvm attacker : made.waiting) {
                // They start at the same time.
                attacker.awaitLine("ready", START_BOUND);
            }
            return made;
        } catch (Throwable t) {
            made.close();
            throw t;
        }
    }

    private final class Attackers implements AutoCloseable {
        private final Deque<ChildJvm> waiting = new ArrayDeque<>();

        /** The next of them, which attacks from now on; the caller closes it. */
        ChildJvm next() throws Exception {
            ChildJvm attacker = waiting.remove();
            attacker.send("attack");
            attacker.awaitLine("attacking");
            return attacker;
        }

        /** The next of them attacks to its end. */
        void attack() throws Exception {
            try (ChildJvm attacker = next()) {
                String line = attacker.awaitLine("");
                while (!line.startsWith("done")) {
                    assertThat(line).as("seed %d", seed).doesNotStartWith("failed");
                    line = attacker.awaitLine("");
                }
                assertThat(attacker.end()).isZero();
            }
        }

        @Override
        public void close() {
            waiting.forEach(ChildJvm::close);
        }
    }

    private static <C extends Client> C started(C client) {
        ((Client) client).thread.start();
        return client;
    }

    /** A thread that calls on and on. */
    private abstract class Client implements AutoCloseable {
        private final AtomicReference<Throwable> wrong = new AtomicReference<>();
        private final Thread thread;
        final AtomicLong calls = new AtomicLong();
        volatile boolean stopping;

        Client(String name) {
            thread = Thread.ofPlatform().name(name).unstarted(this::run);
        }

        private void run() {
            try {
                callOn();
            } catch (Throwable t) {
                wrong.compareAndSet(null, t);
            }
        }

        /** Calls until {@link #stopping}, counts rounds, throws whatever must not be. */
        abstract void callOn();

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

        @Override
        public void close() throws InterruptedException {
            stopping = true;
            thread.join(Duration.ofSeconds(60));
            assertThat(thread.isAlive()).as("an honest client hangs").isFalse();
        }
    }

    /** Builds its arguments in the shared arena and hands them over, and takes what comes of that. */
    private final class SharingClient extends Client {
        SharingClient() {
            super("sharing");
        }

        @Override
        void callOn() {
            try (RpcChannel channel = channel(Catalogue.class).open()) {
                Catalogue catalogue = channel.stub(Catalogue.class);
                while (!stopping) {
                    try (Scope scope = channel.newSharedScope()) {
                        Catalogue.Node graph = HostileTarget.graph(scope, "shared", 5);
                        catalogue.walk(graph);
                        Catalogue.Node copy = catalogue.copy(graph);
                        channel.release(copy);
                        catalogue.take(graph);
                    } catch (RpcException
                            | RefException
                            | SharedDataException
                            | OutOfArenaException
                            | ScopeException e) {
                        assertThat(e.getMessage()).isNotBlank();
                    }
                    calls.incrementAndGet();
                }
            }
        }
    }

    /** Checks every answer. Its memory is full of what no other client may see. */
    private final class HonestClient extends Client {
        private final long[] latencies = new long[KEPT_LATENCIES];

        HonestClient() {
            super("honest");
        }

        @Override
        void callOn() {
            try (RpcChannel echoChannel = channel(Echo.class).open();
                    RpcChannel catalogueChannel = channel(Catalogue.class).open();
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

        /** Of the rounds since the last time, in nanoseconds. */
        long percentile99() {
            int count = (int) Math.min(calls.getAndSet(0), KEPT_LATENCIES);
            long[] sorted = Arrays.copyOf(latencies, count);
            Arrays.sort(sorted);
            return count == 0 ? 0 : sorted[(int) (count * 0.99)];
        }
    }
}
