package dev.rackcall.rpc.surroundings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.surroundings.SystemCalls.Span;
import dev.rackcall.shm.os.Affinity;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.ChildJvm;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * How many system calls a call costs: those of the client's calling thread during its calls, and those of the server's
 * polling thread from the first call to the end of the last.
 */
class SystemCallsTest extends RpcFixture {
    private static final int RARE_CALLS = 100;
    /** Rare calls before them, in which an adaptive thread learns not to spin. */
    private static final int FIRST_RARE_CALLS = 30;

    private static final int GAP_MILLIS = 20;

    private static final int BURSTS = 100;
    private static final int CALLS_PER_BURST = 200;

    /** Part of the calls in which a thread may make a system call again: its sleep has a bound, and its turn may end. */
    private static final double MARGIN = 0.15;

    private static final double HARDLY_ANY = 0.01;

    private static final Set<String> RING_AND_SLEEP = Set.of("sendto", "futex");
    /** The wake-up is a futex, too. The ring is read after the answer. */
    private static final Set<String> SLEEP_AND_WAKE_AND_READ_RING = Set.of(SystemCalls.EPOLL, "futex", "recvfrom");
    /** An adaptive thread's pause. How many there are depends on how long other threads have the processor. */
    private static final String YIELD = "sched_yield";

    private record Traces(List<Span> bursts, SystemCalls client, SystemCalls server) {
        SystemCalls ofCaller(List<Span> times) {
            return client.of(CountedCalls.CALLER, times);
        }

        SystemCalls ofPoller(Span time) {
            return server.of(CountedCalls.POLLER, List.of(time));
        }
    }

    @BeforeEach
    void requireTracer() throws Exception {
        Path trial = directory.resolve("trial.strace");
        assumeTrue(
                SurroundingsTest.runs(SystemCalls.tracedTo(trial))
                        && !SystemCalls.read(trial).all().isEmpty(),
                "NOT TESTED: system calls are not counted, because strace is not on the PATH, or may not trace");
    }

    private Traces trace(WaitStrategy waiting, int bursts, int calls, int gapMillis) throws Exception {
        Path run = directory.resolve("run");
        Path ofServer = directory.resolve("server.strace");
        Path ofClient = directory.resolve("client.strace");
        try (ChildJvm server = ChildJvm.of(CountedCalls.class, "serve", run, waiting)
                .behind(SystemCalls.tracedTo(ofServer))
                .start()) {
            server.awaitLine("serving");
            ChildJvm.Result client = ChildJvm.of(CountedCalls.class, "call", run, waiting, bursts, calls, gapMillis)
                    .behind(SystemCalls.tracedTo(ofClient))
                    .run();
            assertThat(client.exitCode()).as(client.output()).isZero();
            // Returns when the tracer has ended, too: it has the same standard output.
            assertThat(server.end()).isZero();
            return new Traces(
                    CountedCalls.bursts(client.output()), SystemCalls.read(ofClient), SystemCalls.read(ofServer));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ADAPTIVE", "BLOCKING"})
    @Timeout(300)
    void shouldMakeEachSystemCallOfASleepOnce(WaitStrategy waiting) throws Exception {
        Traces traces = trace(waiting, FIRST_RARE_CALLS + RARE_CALLS, 1, GAP_MILLIS);
        List<Span> calls = traces.bursts.subList(FIRST_RARE_CALLS, FIRST_RARE_CALLS + RARE_CALLS);
        Map<String, Long> client = traces.ofCaller(calls).counts();
        Map<String, Long> server = traces.ofPoller(Span.over(calls)).counts();
        String found =
                "system calls of %d calls: the client's %s, the server's %s".formatted(RARE_CALLS, client, server);
        assertThat(client.get("sendto")).as(found).isNotNull();
        assertThat(excess(client, RING_AND_SLEEP, waiting)).as(found).isEmpty();
        assertThat(server.get(SystemCalls.EPOLL)).as(found).isNotNull();
        assertThat(excess(server, SLEEP_AND_WAKE_AND_READ_RING, waiting))
                .as(found)
                .isEmpty();
    }

    /** The system calls that are made more often than expected: once per call, or never. */
    private static Map<String, Long> excess(Map<String, Long> counts, Set<String> expected, WaitStrategy waiting) {
        Map<String, Long> excess = new TreeMap<>(counts);
        excess.entrySet()
                .removeIf(count ->
                        count.getValue() <= ((expected.contains(count.getKey()) ? 1 : 0) + MARGIN) * RARE_CALLS);
        if (waiting == WaitStrategy.ADAPTIVE) {
            excess.remove(YIELD);
        }
        return excess;
    }

    @Test
    @Timeout(300)
    void shouldMakeNoSystemCallsWhereNoThreadSleeps() throws Exception {
        assumeTrue(Affinity.ofProcess().length > 1, "NOT TESTED: spinning threads need a processor each");
        Traces traces = trace(WaitStrategy.BUSY_SPIN, BURSTS, CALLS_PER_BURST, 0);

        SystemCalls client = traces.ofCaller(traces.bursts);
        assertThat(client.all().size() / (double) (BURSTS * CALLS_PER_BURST))
                .as("system calls per call of a client that made %s", client.counts())
                .isLessThan(HARDLY_ANY);
        // The poller checks its sockets by the turn. It takes many if the client has no processor for a while.
        SystemCalls server = traces.bursts.stream()
                .map(traces::ofPoller)
                .min(Comparator.comparingInt(calls -> calls.all().size()))
                .orElseThrow();
        assertThat(server.all().size() / (double) CALLS_PER_BURST)
                .as("system calls per call of a server that made at least %s in every burst", server.counts())
                .isLessThan(HARDLY_ANY);
        assertThat(traces.ofPoller(Span.over(traces.bursts)).counts().keySet())
                .as("system calls of a server that did not sleep")
                .isSubsetOf(SystemCalls.EPOLL);
    }
}
