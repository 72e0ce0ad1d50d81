package dev.rackcall.perf;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.harness.Rounds;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import dev.rackcall.perf.targets.RttTarget;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class RoundsTest {
    private final StringWriter progress = new StringWriter();
    private final List<String> order = new ArrayList<>();

    private Rounds rounds(int repeat, String... names) {
        return new Rounds(plan(repeat, names));
    }

    private BenchPlan plan(int repeat, String... names) {
        return new BenchPlan(
                Subjects.only(List.of(names)),
                List.of(),
                1,
                1,
                repeat,
                OptionalDouble.empty(),
                List.of(1),
                Cores.UNPINNED,
                new PrintWriter(progress, true));
    }

    @Test
    void shouldRepeatRoundByRoundAndReportMedians() {
        List<Result> results = rounds(3, "aeron-ipc", "grpc-tcp").run(BenchTarget.CONNECT, subject -> true, subject -> {
            order.add(subject.name());
            return List.of(result(subject, 100L * order.size()));
        });
        assertThat(order).containsExactly("aeron-ipc", "grpc-tcp", "aeron-ipc", "grpc-tcp", "aeron-ipc", "grpc-tcp");
        assertThat(results).extracting(Result::name).containsExactly("aeron-ipc", "grpc-tcp");
        assertThat(results).extracting(Result::p50Ns).containsExactly(300L, 400L);
        assertThat(progress.toString())
                .contains("connect 4 of 6: grpc-tcp")
                .containsSubsequence("aeron-ipc: p50 100 ns", "grpc-tcp: p50 200 ns", "aeron-ipc: p50 300 ns");
    }

    @Test
    void shouldGoOnWithTheOthersWhenOneFails() {
        Rounds rounds = rounds(1, "raw-pingpong", "aeron-ipc", "grpc-tcp");
        List<Result> results = rounds.run(BenchTarget.START, subject -> true, subject -> {
            if (subject.name().equals("aeron-ipc")) {
                throw new BenchFailure("no driver");
            }
            return List.of(result(subject, 1));
        });
        assertThat(results).extracting(Result::name).containsExactly("raw-pingpong", "grpc-tcp");
        assertThat(rounds.failures()).containsExactly("start aeron-ipc: no driver");
        assertThat(progress.toString()).contains("failed: start aeron-ipc: no driver");
    }

    @Test
    void shouldKeepWhatItMeasuredUntilTheTimeWasOver() {
        Rounds rounds = new Rounds(plan(2, "aeron-ipc", "grpc-tcp"), () -> order.size() == 3);
        List<Result> results = rounds.run(BenchTarget.START, subject -> true, subject -> {
            order.add(subject.name());
            return List.of(result(subject, 100L * order.size()));
        });
        assertThat(order).containsExactly("aeron-ipc", "grpc-tcp", "aeron-ipc");
        assertThat(results).extracting(Result::p50Ns).containsExactly(200L, 200L);
        assertThat(rounds.isCutOff()).isTrue();
        assertThat(rounds.failures()).isEmpty();
    }

    @Test
    void shouldFinishWhatItBeganWhenTheTimeIsOver() {
        Rounds rounds = new Rounds(plan(1, "aeron-ipc"), () -> !order.isEmpty());
        Subject subject = Subjects.only(List.of("aeron-ipc")).getFirst();
        assertThat(rounds.attempt(BenchTarget.START, subject, () -> order.add("begun")))
                .isTrue();
        assertThat(rounds.isCutOff()).isFalse();
        assertThat(rounds.attempt(BenchTarget.START, subject, () -> order.add("too late")))
                .isFalse();
        assertThat(rounds.finish(BenchTarget.START, subject, () -> order.add("finished")))
                .isTrue();
        assertThat(order).containsExactly("begun", "finished");
        assertThat(rounds.isCutOff()).isTrue();
    }

    @Test
    void shouldLetSpinningSubjectsTakeTurnsAndMeasureTheOthersAlone() {
        List<List<String>> groups = RttTarget.groups(
                        BenchTarget.RTT, Subjects.only(List.of("grpc-uds", "raw-pingpong", "aeron-ipc", "grpc-tcp")))
                .stream()
                .map(group -> group.stream().map(Subject::name).toList())
                .toList();
        assertThat(groups)
                .containsExactly(List.of("raw-pingpong", "aeron-ipc"), List.of("grpc-uds"), List.of("grpc-tcp"));
    }

    private static Result result(Subject subject, long p50) {
        return Result.of(
                subject.name(),
                BenchTarget.CONNECT,
                1,
                subject.bytes(),
                new Measurement(p50, p50, p50, p50, p50, 1, 1));
    }
}
