package dev.rackcall.perf.rare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.harness.Rounds;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RareTargetTest {
    @TempDir
    private Path directory;

    private static Result median(String name, long... p50s) {
        List<Result> runs = new ArrayList<>();
        for (long p50 : p50s) {
            runs.add(Result.of(name, BenchTarget.RARE, 1, 64, new Measurement(p50, p50, p50, p50, p50, 100, 1))
                    .with("worst_p50_ns", p50)
                    .with("worst_p99_ns", 2 * p50));
        }
        return Result.medianOf(runs);
    }

    @Test
    void shouldCompareTheWorstRunWithThePeersMedian() {
        List<Result> compared = RareTarget.withRatios(
                List.of("rare-rackcall-2", "rare-uds-2", "rare-c-uds-2", "rare-rackcall-20"),
                List.of(
                        median("rare-rackcall-20", 7),
                        median("rare-rackcall-2", 10, 40, 20),
                        median("rare-uds-2", 10, 20, 90)));
        assertThat(compared)
                .extracting(Result::name)
                .containsExactly("rare-rackcall-2", "rare-uds-2", "rare-rackcall-20");
        assertThat(compared.getFirst().figures())
                .containsEntry("p50_ns", 20L)
                .containsEntry("worst_p50_ns", 40L)
                .containsEntry("worst_p99_ns", 80L)
                .containsEntry("uds_ratio", 2.0)
                .doesNotContainKey("c_uds_ratio");
        assertThat(compared.getLast().figures()).doesNotContainKeys("uds_ratio", "c_uds_ratio");
    }

    @Test
    void shouldMeasureRareCallsOfEachSubjectOfThisHost() throws Exception {
        List<Subject> subjects = RareTarget.subjects().stream()
                .filter(subject -> subject.name().endsWith("-0.2"))
                .filter(subject -> {
                    subject.missing().get().ifPresent(why -> System.err.println("SKIPPED RareTargetTest: " + why));
                    return subject.missing().get().isEmpty();
                })
                .toList();
        BenchPlan plan = new BenchPlan(
                subjects,
                List.of(),
                50_000_000,
                20_000_000,
                1,
                OptionalDouble.empty(),
                List.of(),
                Cores.UNPINNED,
                new PrintWriter(Writer.nullWriter()));
        Rounds rounds = new Rounds(plan);
        try (Workspace workspace = Workspace.create(directory)) {
            List<Result> results = new RareTarget(plan, workspace, rounds).measure();
            assertThat(rounds.failures()).isEmpty();
            assertThat(results)
                    .extracting(Result::name)
                    .containsExactlyElementsOf(
                            subjects.stream().map(Subject::name).toList());
            assertThat(results).allSatisfy(result -> {
                assertThat(result.p50Ns()).isPositive();
                assertThat(result.figures()).containsEntry("count", 250L).containsEntry("gap_ns", 200_000L);
            });
        }
        assertThat(directory).isEmptyDirectory();
    }
}
