package dev.rackcall.cli.top;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.perf.calls.BenchTransport;
import dev.rackcall.perf.calls.RackcallCall;
import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.harness.HostProgram;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.Result;
import dev.rackcall.perf.targets.WatchedTarget;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The row {@code -watched} of {@code rackcall bench idle}; the benchmarks' own module has no {@code top} to start. */
@Timeout(300)
class WatchedTargetTest {
    @TempDir
    private Path directory;

    @Test
    void shouldMeasureAConnectionThatTopShows() throws Exception {
        boolean hasScript = HostProgram.onPath("script").isPresent();
        if (!hasScript) {
            System.err.println("SKIPPED WatchedTargetTest: this host has no script(1), of the package bsdutils");
        }
        assumeThat(hasScript).isTrue();
        assertThat(WatchedTarget.isPossible()).as("the command is found").isTrue();

        Subject subject = RackcallCall.subject(
                "rackcall-noop", BenchTransport.SHARED_MEMORY, RackcallCall.Argument.NUMBER, Long.BYTES);
        BenchPlan plan = new BenchPlan(
                List.of(subject),
                List.of(),
                40_000_000,
                20_000_000,
                1,
                OptionalDouble.empty(),
                List.of(),
                Cores.UNPINNED,
                new PrintWriter(Writer.nullWriter()));
        WatchedTarget.Phases phases = new WatchedTarget.Phases(40_000_000, 40_000_000, 40_000_000);
        try (Workspace workspace = Workspace.create(directory)) {
            Result result = new WatchedTarget(plan, workspace, phases).measure(subject);

            assertThat(result.name()).isEqualTo("rackcall-noop-watched");
            assertThat(result.figure("top_requests_per_s").orElseThrow()).isPositive();
            assertThat(result.p50Ns()).isPositive();
            assertThat(result.figure("alone_p50_ns").orElseThrow()).isPositive();
            assertThat(result.figures()).containsKeys("p50_ratio", "top_start_cpu_s", "top_cpu_percent");
        }
        assertThat(directory).isEmptyDirectory();
    }
}
