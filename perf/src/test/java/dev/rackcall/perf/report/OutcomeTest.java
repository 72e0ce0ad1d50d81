package dev.rackcall.perf.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.perf.isolation.IsolationSubjects;
import dev.rackcall.perf.result.BenchOutcome;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Crossing;
import dev.rackcall.perf.result.Figures;
import dev.rackcall.perf.result.Machine;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class OutcomeTest {
    private static final Machine MACHINE = new Machine(
            2,
            "a <fast> processor",
            "Linux 6",
            8L << 30,
            0.5,
            List.of(0, 1),
            "JVM 25",
            List.of("-Dx=1"),
            21.5,
            "tsc",
            "2026-01-01T00:00:00Z",
            "rackcall bench",
            1.5);

    private static Result run(long p50, double ops, double allocated) {
        return Result.of(
                        "rackcall-noop",
                        BenchTarget.RTT,
                        1,
                        0,
                        new Measurement(p50, 2 * p50, 3 * p50, p50 - 1, 9 * p50, 100, ops))
                .with("settled", p50 < 900)
                .with("alloc_client_b", allocated);
    }

    private static BenchOutcome outcome(List<Result> results, List<String> skipped, List<String> failures) {
        return new BenchOutcome(MACHINE, results, List.of(), skipped, failures, List.of(), Map.of(), Map.of());
    }

    private static JsonNode json(BenchOutcome outcome) {
        return JsonMapper.builder().build().readTree(outcome.toJson());
    }

    @Test
    void shouldTakeTheMedianOfEachFigureOverTheRepeats() {
        Result median = Result.medianOf(List.of(run(400, 3e6, 0.004), run(900, 1e6, 24), run(500, 2e6, 0)));
        assertThat(median.p50Ns()).isEqualTo(500);
        assertThat(median.figures()).containsEntry("p999_ns", 1500L);
        assertThat(median.opsPerS()).isEqualTo(2e6);
        assertThat(median.figures()).containsEntry("repeats", 3).containsEntry("count", 300L);
        assertThat(median.figures())
                .containsEntry("p50_low_ns", 400L)
                .containsEntry("p50_high_ns", 900L)
                .containsEntry("min_ns", 399L)
                .containsEntry("max_ns", 8100L)
                .containsEntry("alloc_client_b", 0.0)
                .containsEntry("settled", false);
    }

    @Test
    void shouldTakeTheMiddleOfTwoRepeats() {
        assertThat(Result.medianOf(List.of(run(400, 3e6, 0), run(500, 1e6, 1))).p50Ns())
                .isEqualTo(450);
    }

    @Test
    void shouldWriteTheAgreedJson() {
        JsonNode json = json(outcome(List.of(run(400, 2.5e6, 0)), List.of(), List.of()));
        assertThat(names(json)).containsExactly("machine", "results");
        assertThat(names(json.get("machine")))
                .contains("cores", "cpu", "kernel", "jvm", "flags", "clock_ns", "command");
        JsonNode result = json.get("results").get(0);
        assertThat(names(result))
                .startsWith("name", "p50_ns", "p99_ns", "p999_ns", "ops_per_s", "in_flight", "bytes")
                .contains("target", "repeats", "alloc_client_b")
                .doesNotContain("more");
        assertThat(result.get("p50_ns").isIntegralNumber()).isTrue();
        assertThat(result.get("p999_ns").asLong()).isEqualTo(1200);
        assertThat(result.get("ops_per_s").asDouble()).isEqualTo(2.5e6);
    }

    private static Result isolated(String name, long p50) {
        return Result.of(name, BenchTarget.ISOLATION, 1, 0, new Measurement(p50, p50, p50, p50, p50, 100, 1e6));
    }

    @Test
    void shouldTellFromWhichSizeOnSealsCostNoMoreThanSnapshots() {
        List<Result> results = List.of(
                isolated("snapshot-1", 300),
                isolated("sealed-1", 290),
                isolated("snapshot-16", 800),
                isolated("sealed-16", 900),
                isolated("snapshot-256", 9000),
                isolated("sealed-256", 1000),
                isolated("snapshot-1024", 90_000),
                isolated("sealed-1024", 1100),
                isolated("snapshot-write-1", 300),
                isolated("sealed-write-1", 4000),
                isolated("snapshot-write-16", 900),
                isolated("sealed-write-16", 5000),
                isolated("sealed-write-256", 5000));
        List<Crossing> crossings = IsolationSubjects.crossings(results);
        assertThat(crossings)
                .containsExactly(
                        new Crossing("unchanged", OptionalInt.of(256), 1024),
                        new Crossing("changed", OptionalInt.empty(), 16));
        BenchOutcome outcome = new BenchOutcome(
                MACHINE,
                results,
                List.of(),
                List.of(),
                List.of(),
                crossings,
                Map.of(
                        BenchTarget.ISOLATION,
                        crossings.stream().map(Crossing::sentence).toList()),
                Map.of());
        assertThat(TableReport.render(outcome))
                .contains("unchanged between calls: a seal costs no more than a snapshot from 256 pages (1.00 MiB) on")
                .contains("changed between calls: up to 16 pages a snapshot costs less");
        JsonNode json = json(outcome);
        assertThat(json.get("auto_crossings").get(0).get("from_pages").asInt()).isEqualTo(256);
        assertThat(names(json.get("auto_crossings").get(1))).containsExactly("use", "largest_pages");
    }

    private static List<String> names(JsonNode node) {
        return List.copyOf(node.propertyNames());
    }

    @Test
    void shouldShowFiguresMachineAndFailuresInTheTable() {
        String table = TableReport.render(
                outcome(List.of(run(412, 2.5e6, 0)), List.of("y: no room"), List.of("rtt x: broke")));
        assertThat(table)
                .contains("SKIPPED: y: no room")
                .contains("rackcall-noop", "412 ns", "824 ns", "1.24 us", "2.50 M")
                .contains("2 cores", "JVM 25", "clock reading (tsc, 21.5 ns)", "FAILED: rtt x: broke");
    }

    @Test
    void shouldDrawPlotsIntoOneSelfContainedPage() {
        List<Result> results = Stream.concat(
                        Stream.of(run(400, 2.5e6, 0)),
                        Stream.of(1, 8, 64)
                                .map(depth -> Result.of(
                                        "rackcall-noop",
                                        BenchTarget.THROUGHPUT,
                                        depth,
                                        0,
                                        new Measurement(400, 500, 600, 300, 900, 10, depth * 1e6))))
                .toList();
        String page = HtmlReport.render(outcome(results, List.of("<y>: no room"), List.of("rtt <x>: broke")));
        assertThat(page.split("<svg", -1)).hasSize(3);
        assertThat(page)
                .contains(
                        "a &lt;fast&gt; processor",
                        "Not measured: rtt &lt;x&gt;: broke",
                        "Skipped: &lt;y&gt;: no room",
                        "400 ns")
                .doesNotContain("could not be drawn", "<script", "src=", "@import");
        assertThat(page.replaceAll("http://www.w3.org/[^\"]*", "")).doesNotContain("http");
    }

    @Test
    void shouldNameTheElementsOfEachPlotApart() {
        String page = HtmlReport.render(outcome(
                Stream.of(BenchTarget.METRICS, BenchTarget.VERBS)
                        .map(target -> Result.of("x", target, 1, 0, new Measurement(400, 500, 600, 300, 900, 10, 1e6)))
                        .toList(),
                List.of(),
                List.of()));
        List<String> ids = Pattern.compile(" id=\"([^\"]+)\"")
                .matcher(page)
                .results()
                .map(match -> match.group(1))
                .toList();
        assertThat(ids).hasSizeGreaterThan(1).doesNotHaveDuplicates();
    }

    @Test
    void shouldWriteFiguresWithThreeDigits() {
        assertThat(Figures.time(0)).isEqualTo("0 ns");
        assertThat(Figures.time(999)).isEqualTo("999 ns");
        assertThat(Figures.time(1234)).isEqualTo("1.23 us");
        assertThat(Figures.time(56_789_000)).isEqualTo("56.8 ms");
        assertThat(Figures.rate(7_654_321)).isEqualTo("7.65 M");
        assertThat(Figures.bytes(1 << 20)).isEqualTo("1.00 MiB");
        assertThat(Figures.bytes(0.25)).isEqualTo("0.25 B");
    }
}
