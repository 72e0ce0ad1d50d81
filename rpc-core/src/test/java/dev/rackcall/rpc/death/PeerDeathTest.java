package dev.rackcall.rpc.death;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Usage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * {@code kill -9} of clients at random instants: the server and the other clients continue, lose nothing, and release
 * what the dead held. The property {@code rackcall.kills} is the number of kills, 5 by default; {@code rackcall.seed}
 * decides when.
 */
@Timeout(600)
class PeerDeathTest extends RpcFixture {
    private static final int KILLS = Integer.getInteger("rackcall.kills", 3);
    /** Processes that are started ahead, while others die. */
    private static final int STARTED_AHEAD = 2;

    private static final long LONGEST_LIFE_NANOS = TimeUnit.MILLISECONDS.toNanos(40);

    private static final long MOST_CACHED_BYTES = 1 << 20;

    private final long seed = Long.getLong("rackcall.seed", System.nanoTime());
    private final Random random = new Random(seed);

    /** Unexpected failures of calls in this process. */
    private final AtomicReference<Throwable> wrong = new AtomicReference<>();

    // ---- clients die

    @Test
    void shouldForgetClientsThatAreKilled() throws Exception {
        try (RpcServer server = serving(Echo.class, new EchoService())
                        .service(Library.class, new LibraryService())
                        .start();
                RpcChannel observer = channel(Library.class).open();
                Caller survivor = new Caller(BusyCaller.Style.SLEEPING);
                Caller sharer = new Caller(BusyCaller.Style.SHARED)) {
            Library library = observer.stub(Library.class);
            killClients(2, server, survivor, sharer);
            library.dropKept();
            Map<String, Integer> before = Usage.now();
            killClients(KILLS, server, survivor, sharer);
            library.dropKept();
            Await.equal("what the process holds more of, seed " + seed, Map.of(), () -> Usage.grownSince(before));
            sharer.close();
            library.dropKept();
            try (Scope scope = observer.newSharedScope()) {
                // The rest are freed runs that the server keeps for its next allocations; the dead client held far
                // more.
                Await.until(
                        "the shared arena's memory comes back, seed " + seed,
                        () -> scope.arena().usedBytes() < MOST_CACHED_BYTES);
            }
        }
        assertThat(wrong.get()).as("seed %d", seed).isNull();
        assertThat(directory.toFile().list()).isNullOrEmpty();
    }

    private void killClients(int kills, RpcServer server, Caller... survivors) throws Exception {
        int ours = server.connections();
        Deque<ChildJvm> next = new ArrayDeque<>();
        try {
            for (int kill = 0; kill < kills; kill++) {
                while (next.size() < Math.min(STARTED_AHEAD, kills - kill)) {
                    next.add(busyClient());
                }
                try (ChildJvm victim = next.remove()) {
                    victim.awaitLine("calling");
                    LockSupport.parkNanos((long) (random.nextDouble() * LONGEST_LIFE_NANOS));
                    assertThat(victim.isAlive())
                            .as("victim %d, seed %d", kill, seed)
                            .isTrue();
                    victim.kill();
                }
                for (Caller survivor : survivors) {
                    survivor.awaitProgress();
                }
            }
        } finally {
            next.forEach(ChildJvm::close);
        }
        Await.equal("connections, seed " + seed, ours, server::connections);
    }

    private ChildJvm busyClient() {
        List<String> arguments = new ArrayList<>(List.of(directory.toString(), Long.toString(random.nextLong())));
        BusyCaller.Style[] styles = BusyCaller.Style.values();
        for (int i = 0; i < 2; i++) {
            arguments.add(styles[random.nextInt(styles.length)].name());
        }
        return ChildJvm.start(BusyClient.class, directory, arguments.toArray());
    }

    /** A thread of this process that calls endlessly. */
    private final class Caller implements AutoCloseable {
        private final BusyCaller calls;
        private final Thread thread;
        private final AtomicLong successes = new AtomicLong();
        private volatile boolean stopping;

        Caller(BusyCaller.Style style) {
            calls = new BusyCaller(style, directory, seed);
            thread = Thread.ofPlatform().name("caller-" + style).start(this::run);
        }

        private void run() {
            while (!stopping) {
                try {
                    calls.call();
                    successes.incrementAndGet();
                } catch (Throwable t) {
                    wrong.compareAndSet(null, t);
                    return;
                }
            }
        }

        void awaitProgress() {
            long before = successes.get();
            Await.until(
                    "progress of " + thread.getName() + ", seed " + seed + ", after " + wrong.get(),
                    () -> successes.get() > before + 1 || wrong.get() != null);
        }

        @Override
        public void close() throws InterruptedException {
            stopping = true;
            thread.join(Duration.ofSeconds(30));
            calls.close();
        }
    }
}
