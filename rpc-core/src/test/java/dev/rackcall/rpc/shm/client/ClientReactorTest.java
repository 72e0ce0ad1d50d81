package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.shm.waiting.Processors;
import dev.rackcall.shm.waiting.SpinLimit;
import dev.rackcall.shm.waiting.WaitCounts;
import dev.rackcall.testkit.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The reactor leaves answers to callers that poll, one connection at a time. */
class ClientReactorTest {
    @TempDir
    private Path directory;

    /** A call that is awaited for good, on a connection whose callers poll all the time or never. */
    private static final class Awaited implements ClientReactor.Polled {
        private final boolean helps;
        private final AtomicInteger helped = new AtomicInteger();
        private final AtomicInteger polls = new AtomicInteger();
        private final AtomicInteger sleeps = new AtomicInteger();

        Awaited(boolean helps) {
            this.helps = helps;
        }

        @Override
        public boolean isAwaited() {
            return true;
        }

        @Override
        public boolean hasUnrungAnswer() {
            return false;
        }

        @Override
        public int poll() {
            polls.incrementAndGet();
            return 0;
        }

        @Override
        public int helped() {
            return helps ? helped.incrementAndGet() : 0;
        }

        @Override
        public long expire(long now, long bound) {
            sleeps.incrementAndGet();
            // Not to wait for long in the test.
            return Math.min(bound, TimeUnit.MILLISECONDS.toNanos(1));
        }

        @Override
        public void flushControls() {}
    }

    @Test
    void shouldLetAServerRingWhileCallersOfAnotherConnectionPoll() throws Exception {
        try (LyingServer server = new LyingServer(directory.resolve("left"), HostileScript.service("/test/echo"));
                LyingServer other = new LyingServer(directory.resolve("helped"), HostileScript.service("/test/echo"))) {
            ShmClientConnection left = connect("left");
            ShmClientConnection helped = connect("helped");
            ClientReactor reactor = new ClientReactor();
            Awaited polledByCallers = new Awaited(true);
            long helpedTag = add(reactor, helped, polledByCallers);
            long leftTag = add(reactor, left, new Awaited(false));
            try {
                Await.until(
                        "the reactor to sleep until the idle connection's server rings",
                        () -> ControlLayout.isReactorAsleep(left.memory));

                assertThat(ControlLayout.isReactorAsleep(helped.memory)).isFalse();
                int before = polledByCallers.polls.get();
                Await.until(
                        "the reactor to look at the other connection all the same",
                        () -> polledByCallers.polls.get() > before);
            } finally {
                reactor.remove(leftTag);
                reactor.remove(helpedTag);
                left.close();
                helped.close();
            }
        }
    }

    @Test
    void shouldNotSpinBesideAsManySpinningThreadsAsProcessors() throws Exception {
        takeAllSpinning(true);
        try (LyingServer server = new LyingServer(directory.resolve("one"), HostileScript.service("/test/echo"))) {
            ShmClientConnection connection = connect("one");
            ClientReactor reactor = new ClientReactor();
            Awaited calls = new Awaited(false);
            long tag = add(reactor, connection, calls);
            try {
                Await.until("the reactor to sleep some times", () -> calls.sleeps.get() > 5);
                int polls = calls.polls.get();
                assertThat(polls).as("one before each sleep").isLessThanOrEqualTo(1 + calls.sleeps.get());
            } finally {
                reactor.remove(tag);
                connection.close();
            }
        } finally {
            takeAllSpinning(false);
        }
    }

    /** An answered call. A thread always sends it while the reactor tells the servers that it is about to sleep. */
    private static final class SentMeanwhile implements ClientReactor.Polled {
        private final ClientReactor reactor;
        private final AtomicInteger sleeps = new AtomicInteger();
        /** Whether the reactor sleeps next, or has just slept. Reactor's thread only. */
        private boolean polled;

        SentMeanwhile(ClientReactor reactor) {
            this.reactor = reactor;
        }

        @Override
        public boolean isAwaited() {
            return true;
        }

        @Override
        public boolean hasUnrungAnswer() {
            return true;
        }

        @Override
        public int poll() {
            polled = true;
            return 0;
        }

        @Override
        public int helped() {
            if (polled) {
                polled = false;
            } else {
                reactor.wakeIfIdle();
            }
            return 0;
        }

        @Override
        public long expire(long now, long bound) {
            sleeps.incrementAndGet();
            return bound;
        }

        @Override
        public void flushControls() {}
    }

    /** The server of a connection that was added in that moment has not been told, and does not ring. */
    @Test
    void shouldNotSleepAfterACallThatWasSentWhileItToldTheServers() throws Exception {
        takeAllSpinning(true);
        try (LyingServer server = new LyingServer(directory.resolve("one"), HostileScript.service("/test/echo"))) {
            ShmClientConnection connection = connect("one");
            ClientReactor reactor = new ClientReactor();
            SentMeanwhile calls = new SentMeanwhile(reactor);
            long rescued = WaitCounts.of(WaitCounts.Kind.RESCUED);
            long tag = add(reactor, connection, calls);
            try {
                Await.until("the reactor to be about to sleep some times", () -> calls.sleeps.get() > 5);
                assertThat(WaitCounts.of(WaitCounts.Kind.RESCUED)).isEqualTo(rescued);
            } finally {
                reactor.remove(tag);
                connection.close();
            }
        } finally {
            takeAllSpinning(false);
        }
    }

    /** Also wakes the reactor, as a call does: it may have begun to sleep before it had the connection. */
    private static long add(ClientReactor reactor, ShmClientConnection connection, ClientReactor.Polled calls) {
        long tag = reactor.add(connection.end, calls);
        reactor.wakeIfIdle();
        return tag;
    }

    /** Lets no other thread spin, or lets them again. */
    private static void takeAllSpinning(boolean take) {
        for (int i = 0; i < Processors.count(); i++) {
            if (take) {
                assertThat(SpinLimit.enter(Integer.MAX_VALUE)).isTrue();
            } else {
                SpinLimit.leave();
            }
        }
    }

    private ShmClientConnection connect(String name) {
        return LyingServer.connect("/test/echo", directory.resolve(name), Duration.ofSeconds(20));
    }
}
