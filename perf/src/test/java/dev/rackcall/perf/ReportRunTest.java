package dev.rackcall.perf;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchOutcome;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Machine;
import dev.rackcall.perf.result.Paper;
import dev.rackcall.perf.result.Result;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ReportRunTest {
    private static final Machine MACHINE = Machine.describe(List.of(), List.of(), "rackcall report", 0);

    private final StringWriter progress = new StringWriter();

    /** Steps within 900 s, by a clock that jumps once the first measured step has begun. */
    private BenchOutcome measured(int secondsOfTheFirst, ReportStep... steps) {
        return new ReportRun(
                        List.of(steps),
                        900,
                        new PrintWriter(progress, true),
                        () -> progress.toString().contains("== ") ? secondsOfTheFirst * 1_000_000_000L : 0)
                .measure(MACHINE);
    }

    private static List<String> subjects(ReportStep step) {
        BenchSelection selection = step.selection();
        return Stream.concat(selection.subjects().stream().map(Subject::name), selection.locks().stream())
                .toList();
    }

    @Test
    void shouldPlanForTheTimeThatItPromises() {
        assertThat(ReportStep.QUICK.stream().mapToInt(ReportStep::seconds).sum())
                .isLessThanOrEqualTo(ReportCommand.QUICK_SECONDS - 10);
        assertThat(ReportStep.FULL.stream().mapToInt(ReportStep::seconds).sum())
                .isLessThanOrEqualTo(ReportCommand.FULL_SECONDS - 60);
    }

    @Test
    void shouldKnowWhatItMeasures() {
        for (ReportStep step : Stream.concat(ReportStep.QUICK.stream(), ReportStep.FULL.stream())
                .toList()) {
            assertThat(subjects(step).isEmpty())
                    .as(step.toString())
                    .isEqualTo(step.target() == BenchTarget.OBJECTS
                            || (step.target() == BenchTarget.ALOCK
                                    && step.names().isEmpty()));
        }
    }

    @Test
    void shouldPutOnlyResultsThatExistBesideThePapers() {
        assertThat(Paper.all()).hasSize(4);
        assertThat(Paper.all().stream().flatMap(paper -> paper.figures().stream()))
                .allSatisfy(figure -> {
                    BenchTarget target = Words.constant(BenchTarget.values(), figure.target());
                    assertThat(new BenchSelection(List.of(target), List.of(figure.name())).names())
                            .isNotEmpty();
                    assertThat(figure.theirs()).isPositive();
                    assertThat(figure.differs()).isNotBlank();
                    assertThat(Stream.concat(Stream.of("p50_ns", "ops_per_s"), target.columns().keySet().stream()))
                            .contains(figure.figure());
                });
    }

    @Test
    void shouldNameWhatFailedAndWhatItHadNoTimeFor() {
        ReportRun run = new ReportRun(
                List.of(
                        new ReportStep(BenchTarget.RTT, 1, 1, 30, 30, "carrier-pigeon"),
                        new ReportStep(BenchTarget.ISOLATION, 1000, 1, 30, 30, ""),
                        new ReportStep(BenchTarget.RTT, 1, 2, 30, 30, "grpc-inprocess")),
                900,
                new PrintWriter(progress, true),
                () -> 0);
        BenchOutcome outcome = run.measure(MACHINE);
        assertThat(outcome.results()).extracting(Result::name).containsExactly("grpc-inprocess");
        assertThat(outcome.failures()).singleElement().asString().contains("rtt: ", "carrier-pigeon");
        assertThat(outcome.skipped()).containsExactly("isolation: not enough time left");
        assertThat(outcome.isComplete()).isFalse();
        assertThat(outcome.notes().get(BenchTarget.RTT))
                .containsExactly("Each measurement took 30 ms, after at most 30 ms of warm-up; medians of 2 runs.");
        assertThat(progress.toString()).contains("== rtt (0:00 of at most 15:00; about ");
    }

    @Test
    void shouldForecastByThePaceOfWhatItMeasured() {
        BenchOutcome outcome = measured(
                300,
                new ReportStep(BenchTarget.ISOLATION, 1000, 1, 30, 30, ""),
                new ReportStep(BenchTarget.RTT, 1, 1, 30, 30, "grpc-inprocess"),
                new ReportStep(BenchTarget.METRICS, 3, 1, 30, 30, ""));
        assertThat(outcome.results()).extracting(Result::name).containsExactly("grpc-inprocess");
        assertThat(outcome.failures()).isEmpty();
        assertThat(outcome.skipped())
                .containsExactly("isolation: not enough time left", "metrics: not enough time left");
    }

    @Test
    void shouldCutOffAStepWhenTheTimeIsOver() {
        BenchOutcome outcome = measured(
                901,
                new ReportStep(BenchTarget.RTT, 1, 1, 30, 30, "grpc-inprocess"),
                new ReportStep(BenchTarget.METRICS, 3, 1, 30, 30, ""));
        assertThat(outcome.results()).isEmpty();
        assertThat(outcome.failures()).isEmpty();
        assertThat(outcome.skipped())
                .containsExactly("rtt: cut off, the time was over", "metrics: not enough time left");
    }

    @Test
    void shouldListSettingsOnce() {
        BenchOutcome outcome = measured(
                0,
                new ReportStep(BenchTarget.RTT, 1, 1, 30, 30, "grpc-inprocess"),
                new ReportStep(BenchTarget.RTT, 1, 1, 30, 30, "grpc-inprocess"));
        assertThat(outcome.settings()).containsOnlyKeys("grpc-inprocess");
    }

    @Test
    void shouldRefuseToCompareWithWhatIsNoReport(@TempDir Path folder) throws Exception {
        Map<String, String> reasons = Map.of(
                "{\"machine\": 3}", "results",
                "{\"results\": [{\"target\": \"rtt\"}]}", "a result without name",
                "{\"results\": [{\"name\": \"x\"}]}", "a result without target",
                "{\"results\": [{\"name\": \"x\", \"target\": \"speed\"}]}", "unknown target speed");
        for (Map.Entry<String, String> each : reasons.entrySet()) {
            Path other = Files.writeString(folder.resolve("other.json"), each.getKey());
            StringWriter err = new StringWriter();
            assertThat(new CommandLine(new ReportCommand())
                            .setErr(new PrintWriter(err))
                            .execute("--quick", "--against", other.toString()))
                    .isEqualTo(2);
            assertThat(err.toString())
                    .contains("--against " + other + " is not the JSON of a report or bench (", each.getValue());
        }
    }
}
