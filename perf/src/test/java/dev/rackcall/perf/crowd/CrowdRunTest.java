package dev.rackcall.perf.crowd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class CrowdRunTest {
    private static Measurement client(long p50, long p99, long count) {
        return new Measurement(p50, p99, 2 * p99, p50 / 2, 3 * p99, count, 1);
    }

    private static Result run(String name, long slowest, long fastest, long p99, long processorMillis) {
        return new CrowdRun(
                        List.of(client(500, p99, fastest), client(500, p99, slowest)),
                        Duration.ofMillis(500),
                        Duration.ofMillis(processorMillis))
                .result(name);
    }

    private static Result result(String name, long slowest, long fastest) {
        return new CrowdRun(
                        List.of(client(500, 9_000, fastest), client(700, 8_000, slowest)),
                        Duration.ofMillis(500),
                        Duration.ofMillis(750))
                .result(name);
    }

    @Test
    void shouldCountAllCallsAndShowTheLatenciesOfTheWorstClient() {
        Result result = result("crowd-uds-2", 50_000, 200_000);
        assertThat(result.opsPerS()).isEqualTo(500_000);
        assertThat(result.figures())
                .containsEntry("p50_ns", 700L)
                .containsEntry("p99_ns", 9_000L)
                .containsEntry("min_ns", 250L)
                .containsEntry("max_ns", 27_000L)
                .containsEntry("count", 250_000L)
                .containsEntry("in_flight", 2)
                .containsEntry("slowest_to_fastest", 0.25)
                .containsEntry("cpu_s_per_million", 3.0);
    }

    @Test
    void shouldKeepTheFiguresOfTheWorstRun() {
        Result median = Result.medianOf(List.of(
                run("crowd-uds-2", 10, 40, 3_000, 100),
                run("crowd-uds-2", 30, 40, 9_000, 700),
                run("crowd-uds-2", 20, 40, 6_000, 300)));
        assertThat(median.figures())
                .containsEntry("p99_ns", 6_000L)
                .containsEntry("worst_p99_ns", 9_000L)
                .containsEntry("slowest_to_fastest", 0.5)
                .containsEntry("worst_slowest_to_fastest", 0.25)
                .containsEntry("cpu_s_per_million", 5000.0)
                .containsEntry("worst_cpu_s_per_million", 10_000.0);
    }

    @Test
    void shouldCompareLatencyAndProcessorTimeWithTheSocketsOnly() {
        List<Result> runs = List.of(
                run("crowd-rackcall-2-burn2", 20, 20, 1_000, 40),
                run("crowd-rackcall-2-burn2", 20, 20, 4_000, 80),
                run("crowd-rackcall-2-burn2", 20, 20, 2_000, 60));
        Result socket = run("crowd-uds-2-burn2", 10, 10, 8_000, 10);
        Result grpc = run("crowd-grpc-uds-2-burn2", 10, 10, 1_000, 10);
        List<Result> compared = CrowdTarget.withRatios(List.of(Result.medianOf(runs), socket, grpc));
        assertThat(compared.getFirst().figures())
                .containsEntry("uds_ratio", 2.0)
                .containsEntry("uds_p99_ratio", 0.5)
                .containsEntry("uds_cpu_ratio", 4.0)
                .doesNotContainKeys("grpc_uds_p99_ratio", "grpc_uds_cpu_ratio");
        assertThat(compared.get(1)).isEqualTo(socket);
    }

    @Test
    void shouldCompareTheWorstRunWithThePeersMedian() {
        List<Result> rackcall = List.of(
                result("crowd-rackcall-2", 30, 30),
                result("crowd-rackcall-2", 10, 10),
                result("crowd-rackcall-2", 20, 20));
        List<Result> socket =
                List.of(result("crowd-uds-2", 50, 50), result("crowd-uds-2", 40, 40), result("crowd-uds-2", 1, 1));
        Result alone = result("crowd-grpc-uds-4-one", 7, 7);
        List<Result> compared =
                CrowdTarget.withRatios(List.of(alone, Result.medianOf(socket), Result.medianOf(rackcall)));
        assertThat(compared)
                .extracting(Result::name)
                .containsExactly("crowd-rackcall-2", "crowd-uds-2", "crowd-grpc-uds-4-one");
        assertThat(compared.getFirst().figures())
                .containsEntry("ops_per_s", 80.0)
                .containsEntry("worst_ops_per_s", 40.0)
                .containsEntry("uds_ratio", 0.25)
                .doesNotContainKeys("grpc_uds_ratio", "aeron_ratio");
        assertThat(compared.get(1).figures()).containsEntry("ops_per_s", 160.0).doesNotContainKey("uds_ratio");
        assertThat(compared.getLast()).isEqualTo(alone);
    }
}
