package dev.rackcall.rpc.servers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Concurrently;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A server has as many polling threads as its load needs and its processors allow. */
class PollersByNeedTest extends RpcFixture {
    /** More than a thread can serve: while it serves one, the others wait. */
    private static final int CALLERS = 6;

    private static final long HANDLER_NANOS = 1_000_000;

    /**
     * A server whose handlers keep their thread for a millisecond and tell about threads. They wait rather than compute:
     * on a host without idle processors the callers would find no time to call meanwhile, and one thread would suffice.
     */
    static final class Busy extends EchoService {
        public static void main(String[] arguments) throws IOException {
            try (RpcServer server =
                    RpcServer.builder().service(Echo.class, new Busy()).start()) {
                System.out.println("serving " + server.connections());
                while (System.in.read() >= 0) {
                    // Until the test ends.
                }
            }
        }

        @Override
        public String header(String key) {
            LockSupport.parkNanos(HANDLER_NANOS);
            return Thread.currentThread().getName();
        }

        @Override
        public synchronized List<String> notes() {
            return Thread.getAllStackTraces().keySet().stream()
                    .map(Thread::getName)
                    .filter(name -> name.startsWith("rackcall-poll-"))
                    .distinct()
                    .toList();
        }
    }

    private ChildJvm start(int processors) throws InterruptedException {
        ChildJvm child = keep(ChildJvm.of(Busy.class)
                .flags("-XX:ActiveProcessorCount=" + processors)
                .directory(directory)
                .start());
        child.awaitLine("serving");
        return child;
    }

    /** Calls from several connections until {@code over}; returns the names of the threads that served them. */
    private Set<String> load(AtomicBoolean over, Set<String> names) {
        Concurrently.run(CALLERS, _ -> {
            Echo echo = connect(Echo.class);
            while (!over.get()) {
                names.add(echo.header("name"));
                assertThat(echo.add(1, 2)).isEqualTo(3);
            }
        });
        return names;
    }

    @Test
    void shouldStartPollersUnderLoadAndEndThemAfterwards() throws InterruptedException {
        start(16);
        Echo quiet = connect(Echo.class);
        assertThat(quiet.notes()).hasSize(1);
        Set<String> names = ConcurrentHashMap.newKeySet();
        AtomicBoolean over = new AtomicBoolean();
        var load = Concurrently.start(() -> load(over, names));
        try {
            Await.until("several threads serve", () -> names.size() > 1 || load.isDone());
            // One for four processors.
            assertThat(quiet.notes()).hasSizeBetween(2, 4);
        } finally {
            over.set(true);
        }
        assertThat(Concurrently.get(load)).hasSizeGreaterThan(1);
        Await.until("one is left", () -> quiet.notes().size() == 1);
        assertThat(quiet.add(1, 2)).isEqualTo(3);
    }

    @Test
    void shouldLeaveAFewProcessorsToTheCallers() throws InterruptedException {
        start(4);
        Set<String> names = ConcurrentHashMap.newKeySet();
        AtomicBoolean over = new AtomicBoolean();
        Echo counting = connect(Echo.class);
        var load = Concurrently.start(() -> load(over, names));
        // Each takes the time of many looks at the load.
        assertThat(Stream.generate(() -> counting.block(100)).limit(10)).doesNotContain(true);
        over.set(true);
        assertThat(Concurrently.get(load)).hasSize(1);
        assertThat(counting.notes()).hasSize(1);
    }
}
