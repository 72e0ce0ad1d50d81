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
