package dev.rackcall.perf.result;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RunComparisonTest {
    private static final Machine MACHINE = new Machine(
            2, "cpu", "Linux", 1, 0.1, List.of(), "JVM", List.of(), 20, "tsc", "2026-01-01T00:00:00Z", "report", 0);

    private static Result measured(String name, BenchTarget target, long... medians) {
        return Result.medianOf(LongStream.of(medians)
                .mapToObj(median -> Result.of(
                        name, target, 1, 8, new Measurement(median, median, median, median, median, 10, 1e9 / median)))
                .toList());
    }

    private static BenchOutcome outcome(Result... results) {
        return new BenchOutcome(
                MACHINE, List.of(results), List.of(), List.of(), List.of(), List.of(), Map.of(), Map.of());
    }

    private static BenchOutcome micro(String name, double nanos, double deviation) {
        Micro micro = new Micro(name, nanos, deviation, 0);
        return new BenchOutcome(
                MACHINE, List.of(), List.of(micro), List.of(), List.of(), List.of(), Map.of(), Map.of());
    }

    @Test
    void shouldNameWhatGotWorseAndBetterBeyondTheSpreadOfTheRepeats() {
        RunComparison comparison = RunComparison.of(
                outcome(
                        measured("rare-rackcall-2", BenchTarget.RARE, 100, 110, 105),
                        measured("rare-rackcall-20", BenchTarget.RARE, 100, 110, 105),
                        measured("rare-rackcall-200", BenchTarget.RARE, 100, 300, 105),
                        measured("rare-uds-2", BenchTarget.RARE, 100, 110, 105),
                        measured("gone", BenchTarget.RARE, 1)),
                outcome(
                        measured("rare-rackcall-2", BenchTarget.RARE, 130, 140, 150),
                        measured("rare-rackcall-20", BenchTarget.RARE, 60, 70, 80),
                        measured("rare-rackcall-200", BenchTarget.RARE, 200, 320, 330),
                        measured("rare-uds-2", BenchTarget.RARE, 50, 50, 50)));
        assertThat(comparison.compared()).isEqualTo(4);
        assertThat(comparison.worse())
                .singleElement()
                .extracting(Change::sentence)
                .isEqualTo("rare rare-rackcall-2: p50_ns 105 ns -> 140 ns (+33 %)");
        assertThat(comparison.better()).extracting(Change::name).containsExactly("rare-rackcall-20");
        assertThat(comparison.peers()).extracting(Change::name).containsExactly("rare-uds-2");
        assertThat(comparison.sentences().getFirst())
                .isEqualTo(
                        "Compared 4 figures with the run of 2026-01-01T00:00:00Z: 1 got worse and 1 better by more than noise.");
    }

    @Test
    void shouldDemandMoreOfFiguresWithoutRepeats() {
        assertThat(RunComparison.of(
                                outcome(measured("rpc-vq", BenchTarget.CONNECT, 100)),
                                outcome(measured("rpc-vq", BenchTarget.CONNECT, 120)))
                        .worse())
                .isEmpty();
        assertThat(RunComparison.of(
                                outcome(measured("rpc-vq", BenchTarget.CONNECT, 100)),
                                outcome(measured("rpc-vq", BenchTarget.CONNECT, 130)))
                        .worse())
                .hasSize(1);
    }

    @Test
    void shouldCompareWhatTookTurnsWithAFloorByItsRatio() {
        Result before = measured("rackcall-noop", BenchTarget.RTT, 200).with("raw_ratio", 1.5);
        Result now = measured("rackcall-noop", BenchTarget.RTT, 600).with("raw_ratio", 1.5);
        assertThat(RunComparison.of(outcome(before), outcome(now)).worse())
                .as("a slower machine")
                .isEmpty();
        assertThat(RunComparison.of(outcome(before), outcome(now.with("raw_ratio", 2.0)))
                        .worse())
                .extracting(Change::figure)
                .containsExactly("raw_ratio");
    }

    private static List<Change> changed(String name, double ratioBefore, double ratioNow) {
        RunComparison comparison = RunComparison.of(
                outcome(measured(name, BenchTarget.RTT, 200).with("raw_ratio", ratioBefore)),
                outcome(measured(name, BenchTarget.RTT, 400).with("raw_ratio", ratioNow)));
        return Stream.of(comparison.worse(), comparison.better(), comparison.peers())
                .flatMap(List::stream)
                .toList();
    }

    @Test
    void shouldCompareFloorsAndPeersByTheirMedians() {
        assertThat(changed("trusted-1", 1.0, 1.0))
                .as("the floor of others")
                .extracting(Change::figure)
                .containsExactly("p50_ns");
        assertThat(changed("trusted-1", 1.0, 1.01))
                .as("a subject near its floor")
                .isEmpty();
        assertThat(changed("aeron-ipc", 2.0, 2.0)).extracting(Change::figure).containsExactly("p50_ns");
    }

    @Test
    void shouldNotTakeARoundedRatioForAChange() {
        assertThat(changed("x", 0.01, 0.06)).isEmpty();
        assertThat(changed("x", 0.01, 0.07)).extracting(Change::figure).containsExactly("raw_ratio");
    }

    @Test
    void shouldTellHowTheRunsDiffer() {
        BenchOutcome quick = new BenchOutcome(
                new Machine(
                        2,
                        "cpu",
                        "Linux",
                        1,
                        0.9,
                        List.of(),
                        "JVM",
                        List.of(),
                        20,
                        "tsc",
                        "2026-01-01T00:00:00Z",
                        "report --quick",
                        1.5),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                Map.of(),
                Map.of());
        assertThat(RunComparison.of(quick, outcome()).sentences())
                .contains(
                        "Conditions differ: length of a measurement: 1.50 s -> of several lengths.",
                        "Conditions differ: --quick: yes -> no.",
                        "Conditions differ: load at the start: 0.9 -> 0.1.");
    }

    @Test
    void shouldTakeMoreOperationsASecondForBetterAndAllocationForWorse() {
        RunComparison comparison = RunComparison.of(
                outcome(
                        measured("crowd-rackcall-4", BenchTarget.CROWD, 100, 100, 100),
                        measured("rdma-noop", BenchTarget.RDMA, 100).with("alloc_client_b", 0.0)),
                outcome(
                        measured("crowd-rackcall-4", BenchTarget.CROWD, 50, 50, 50),
                        measured("rdma-noop", BenchTarget.RDMA, 100).with("alloc_client_b", 24.0)));
        assertThat(comparison.better()).extracting(Change::figure).containsExactly("ops_per_s");
        assertThat(comparison.worse())
                .extracting(Change::sentence)
                .containsExactly("rdma rdma-noop: alloc_client_b 0 B -> 24 B");
    }

    @Test
    void shouldCompareMicroBenchmarksByTheirDeviation() {
        String name = "objects-write-document-rackcall";
        assertThat(RunComparison.of(micro(name, 100, 10), micro(name, 145, 10)).worse())
                .isEmpty();
        assertThat(RunComparison.of(micro(name, 100, 10), micro(name, 160, 10)).worse())
                .extracting(Change::sentence)
                .containsExactly("objects " + name + ": ns 100 ns -> 160 ns (+60 %)");
    }

    @Test
    void shouldReadWhatARunWrote() {
        BenchOutcome written = outcome(measured("rackcall-noop", BenchTarget.RTT, 200, 220, 210));
        assertThat(RunComparison.of(BenchOutcome.parse(written.toJson()), written))
                .isEqualTo(RunComparison.of(written, written));
    }
}
