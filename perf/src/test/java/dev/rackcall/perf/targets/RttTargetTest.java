package dev.rackcall.perf.targets;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.perf.calls.BenchTransport;
import dev.rackcall.perf.calls.RackcallCall;
import dev.rackcall.perf.calls.ThreadedCalls;
import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.harness.Rounds;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.peers.RawPingPong;
import dev.rackcall.perf.peers.TwoCopies;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Result;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Short turns of subjects that are compared with each other, in processes of their own. */
class RttTargetTest {
    @TempDir
    private Path directory;

    private List<Result> measure(BenchTarget target, List<Subject> subjects) throws Exception {
        BenchPlan plan = new BenchPlan(
                subjects,
                List.of(),
                40_000_000,
                20_000_000,
                1,
                OptionalDouble.empty(),
                List.of(),
                Cores.UNPINNED,
                new PrintWriter(Writer.nullWriter()));
        Rounds rounds = new Rounds(plan);
        assertThat(RttTarget.groups(target, subjects))
                .as("groups that take turns")
                .containsExactly(subjects);
        try (Workspace workspace = Workspace.create(directory)) {
            List<Result> results = new RttTarget(target, plan, workspace, rounds).measure(subjects);
            assertThat(rounds.failures()).isEmpty();
            return results;
        }
    }

    @Test
    void shouldCompareAValueWithItsCopies() throws Exception {
        Subject value = RackcallCall.subject(
                "rackcall-value-4096", BenchTransport.SHARED_MEMORY, RackcallCall.Argument.VALUE, 4096);
        List<Result> results =
                measure(BenchTarget.RTT, List.of(value, RawPingPong.subject(4096), TwoCopies.subject(4096)));
        assertThat(results)
                .extracting(Result::name)
                .containsExactly("rackcall-value-4096", "raw-pingpong-4096", "two-copies-4096");
        assertThat(results.getFirst().figure("raw_value_ratio").orElseThrow()).isPositive();
        assertThat(results.getFirst().figure("copies_ratio").orElseThrow()).isPositive();
        assertThat(results.getLast().figures()).doesNotContainKey("copies_ratio");
    }

    @Test
    void shouldCompareVirtualThreadsWithPlatformThreads() throws Exception {
        List<Result> results = ThreadedCalls.withWhole(measure(BenchTarget.THROUGHPUT, ThreadedCalls.subjects()));
        assertThat(results).extracting(Result::name).containsExactly("rackcall-virtual-1000", "rackcall-platform-8");
        Result virtual = results.getFirst();
        assertThat(virtual.figure("platform_ratio").orElseThrow()).isPositive();
        assertThat(virtual.figures())
                .containsEntry("in_flight", 64)
                .containsEntry("whole_p50_ns", 1000 * virtual.p50Ns())
                .containsEntry("worst_platform_ratio", virtual.figures().get("platform_ratio"));
        assertThat(results.getLast().figures()).containsEntry("in_flight", 8).doesNotContainKey("platform_ratio");
        assertThat((long) virtual.figure("count").orElseThrow() % 1000).isZero();
    }
}
