package dev.rackcall.rpc.death;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.ScopeException;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Usage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code kill -9} of the server at random instants, during calls of every kind. Each call ends with its result or with
 * UNAVAILABLE within a second. The next server starts, its clients find it, and nothing of the dead server is left. The
 * property {@code rackcall.kills} is the number of kills, 5 by default; {@code rackcall.seed} decides when.
 */
@Timeout(600)
class ServerDeathTest extends RpcFixture {
    private static final int KILLS = Integer.getInteger("rackcall.kills", 3);
    /** Servers that are started ahead, while another one serves. */
    private static final int STARTED_AHEAD = 2;

    private static final long LONGEST_LIFE_NANOS = TimeUnit.MILLISECONDS.toNanos(40);
    /** From the death to the end of every call, without the time for which the machine did not run this process. */
    private static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(1);
    /**
     * Threads that run one after the other until a call has ended: the dying server's, the one that notices, the
     * caller's, and the kernel's. The machine may delay each.
     */
    private static final int LINKS = 4;

    @TempDir
    Path temporary;

    private final long seed = Long.getLong("rackcall.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final Deque<ChildJvm> standby = new ArrayDeque<>();
    private final List<Survivor> survivors = new ArrayList<>();

    @Test
    void shouldSurviveServersThatAreKilled() throws Exception {
        try (Hiccups hiccups = new Hiccups()) {
            ChildJvm server = nextServer(KILLS);
            for (BusyCaller.Style style : BusyCaller.Style.values()) {
                survivors.add(new Survivor(style));
            }
            Map<String, Integer> before = Map.of();
            for (int kill = 0; kill < KILLS; kill++) {
                awaitProgress();
                LockSupport.parkNanos((long) (random.nextDouble() * LONGEST_LIFE_NANOS));
                hiccups.takeLongest();
                server.kill();
                long death = System.nanoTime();
                survivors.forEach(Survivor::awaitFailure);
                // The machine may delay each thread by all of that time.
                long waited = LINKS * hiccups.takeLongest();
                survivors.forEach(survivor -> survivor.requireFailureAfter(death, waited));
                server = nextServer(KILLS - kill);
                if (kill == 1) {
                    awaitProgress();
                    before = Usage.now();
                }
            }
            awaitProgress();
            Map<String, Integer> first = before;
            Await.equal("what this process holds more of, seed " + seed, Map.of(), () -> Usage.grownSince(first));
            for (Survivor survivor : survivors) {
                survivor.close();
            }
            assertThat(server.end()).isZero();
        } finally {
            survivors.forEach(Survivor::stop);
            standby.forEach(ChildJvm::close);
        }
        // An unused standby was killed, perhaps during its warm-up.
        assertThat(directory.toFile().list((folder, name) -> !name.startsWith("warm-up")))
                .isNullOrEmpty();
        try (var left = Files.list(temporary)) {
            assertThat(left).as("temporary files of the dead").isEmpty();
        }
    }

    @Test
    void shouldNotMistakeAnObjectForOneOfTheNextServer() throws Exception {
        try (ChildJvm first = nextServer(1);
                RpcChannel channel = channel(Library.class).open()) {
            Library library = channel.stub(Library.class);
            Library.Book kept = library.write("first", 1);
            Library.Book built = LibraryService.fill(channel.newScope(), "mine", 1);
            first.kill();
            try (ChildJvm second = nextServer(0)) {
                // The next server uses the same arena numbers, and has an object at the same place.
                Await.until("the next server", () -> isServed(library));
                for (Library.Book old : List.of(kept, built)) {
                    assertFails(Status.Code.UNAVAILABLE, () -> library.texts(old));
                }
                assertThat(library.texts(library.write("second", 1))).containsExactly("second 0");
                assertThat(second.isAlive()).isTrue();
            }
        } finally {
            standby.forEach(ChildJvm::close);
        }
    }

    private static boolean isServed(Library library) {
        try {
            return library.write("second", 1) != null;
        } catch (RpcException e) {
            assertThat(e.code()).isEqualTo(Status.Code.UNAVAILABLE);
            return false;
        }
    }

    private void awaitProgress() {
        survivors.forEach(Survivor::awaitProgress);
    }

    private ChildJvm nextServer(int left) throws Exception {
        while (standby.size() < 1 + Math.min(STARTED_AHEAD, left)) {
            standby.add(ChildJvm.of(StandbyServer.class, directory)
                    .flags("-Djava.io.tmpdir=" + temporary)
                    .directory(directory)
                    .start());
        }
        ChildJvm next = standby.remove();
        next.awaitLine("ready");
        next.send("serve");
        next.awaitLine("serving");
        return next;
    }

    /** A thread of this process that calls endlessly, through all deaths. */
    private final class Survivor {
        private final BusyCaller.Style style;
        private final BusyCaller calls;
        private final Thread thread;
        private volatile long successes;
        private volatile long failures;
        private volatile long firstFailure;
        private volatile Throwable wrong;
        /** Shows what has interrupted the thread: nothing should. */
        private volatile AssertionError interrupted;

        private volatile boolean stopping;

        Survivor(BusyCaller.Style style) {
            this.style = style;
            calls = new BusyCaller(style, directory, seed);
            thread = new Thread(this::run, "survivor-" + style) {
                @Override
                public void interrupt() {
                    interrupted = new AssertionError("interrupted by " + Thread.currentThread());
                    super.interrupt();
                }
            };
            thread.setDaemon(true);
            thread.start();
        }

        @SuppressWarnings("NonAtomicVolatileUpdate") // only this thread writes
        private void run() {
            while (!stopping) {
                try {
                    calls.call();
                    if (firstFailure != 0) {
                        // A channel without calls connects to the next server only if it appears before the end of
                        // the last one is noticed. What this process holds must not depend on that.
                        calls.callOverBoth();
                    }
                    successes++;
                    firstFailure = 0;
                } catch (Throwable t) {
                    if (!isDeath(t)) {
                        wrong = t;
                        return;
                    }
                    if (firstFailure == 0) {
                        firstFailure = System.nanoTime();
                    }
                    failures++;
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
                }
            }
        }

        private boolean isDeath(Throwable thrown) {
            return switch (thrown) {
                case RpcException e ->
                    e.code() == Status.Code.UNAVAILABLE
                            // No server yet; this style opens a new channel for each call.
                            || (style == BusyCaller.Style.CONNECTING && e.code() == Status.Code.NOT_FOUND);
                // Not a call, but an access to memory that ended with its connection.
                case ScopeException e -> style == BusyCaller.Style.SHARED;
                case IllegalStateException e -> style == BusyCaller.Style.SHARED && isFieldAccess(e);
                default -> false;
            };
        }

        private static boolean isFieldAccess(IllegalStateException thrown) {
            return Arrays.stream(thrown.getStackTrace())
                    .map(StackTraceElement::getClassName)
                    .filter(name -> name.startsWith("dev.rackcall"))
                    .takeWhile(name -> !name.equals(BusyCaller.class.getName()))
                    .allMatch(name -> name.startsWith("dev.rackcall.shm.")
                            || name.startsWith("dev.rackcall.rpc.contract.Library"));
        }

        void awaitProgress() {
            await("an answer", successes, true);
        }

        void awaitFailure() {
            await("the end of its calls", failures, false);
        }

        void requireFailureAfter(long death, long waited) {
            assertThat(firstFailure - death - waited)
                    .as("%s: nanoseconds until its calls ended, without %d, seed %d", style, waited, seed)
                    .isLessThan(BOUND_NANOS);
        }

        private void await(String what, long before, boolean success) {
            Await.until(
                    what + " for " + style + ", seed " + seed,
                    () -> wrong != null || (success ? successes : failures) > before);
            requireRight();
        }

        private void requireRight() {
            if (wrong != null) {
                if (interrupted != null) {
                    wrong.addSuppressed(interrupted);
                }
                throw new AssertionError(style + " met what no death explains, seed " + seed, wrong);
            }
        }

        void stop() {
            stopping = true;
        }

        void close() throws InterruptedException {
            stopping = true;
            assertThat(thread.join(Duration.ofSeconds(30))).isTrue();
            calls.close();
            requireRight();
        }
    }
}
