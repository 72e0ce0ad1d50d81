package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.rackcall.cli.view.Chromium;
import dev.rackcall.perf.report.HtmlReport;
import dev.rackcall.perf.result.BenchOutcome;
import dev.rackcall.perf.result.BenchReport;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Result;
import dev.rackcall.perf.result.RunComparison;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The page of {@code rackcall report} in a real browser, made of kept results. */
@Timeout(600)
class ReportPageTest {
    @TempDir
    private Path folder;

    private static BenchOutcome kept() throws IOException {
        try (InputStream file = ReportPageTest.class.getResourceAsStream("report.json")) {
            return BenchOutcome.parse(new String(file.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    /** An outcome of the round trips alone, in which a call took half of the time. */
    private static BenchOutcome earlier(BenchOutcome outcome) {
        List<Result> results = outcome.results().stream()
                .filter(result ->
                        result.target() == BenchTarget.RTT && result.name().equals("rackcall-noop"))
                .map(result -> {
                    double half = result.figure("raw_ratio_low").orElseThrow() / 2;
                    return result.with("raw_ratio", half)
                            .with("raw_ratio_low", half)
                            .with("raw_ratio_high", half);
                })
                .toList();
        return new BenchOutcome(
                outcome.machine(), results, List.of(), List.of(), List.of(), List.of(), Map.of(), Map.of());
    }

    private static List<String> texts(Chromium browser, String expression) {
        return browser.evaluate(expression)
                .valueStream()
                .map(JsonNode::asString)
                .toList();
    }

    @Test
    void shouldFitNarrowAndWideWindowsWithoutComplaints() throws Exception {
        Optional<Path> program = Chromium.program();
        assumeTrue(program.isPresent(), "NOT TESTED: chromium is not installed");
        BenchOutcome kept = kept();
        BenchOutcome outcome = new BenchOutcome(
                kept.machine(),
                kept.results(),
                kept.micro(),
                List.of("idle: not enough time left"),
                List.of("connect rackcall-noop: <b>it broke</b>"),
                List.of(),
                Map.of(),
                Map.of("rackcall-noop", "a long line of settings ".repeat(20)));
        RunComparison against = RunComparison.of(earlier(outcome), outcome);
        Path page = folder.resolve("report.html");
        Files.writeString(
                page, HtmlReport.render(new BenchReport("abc1234-dirty", 171.5, outcome, Optional.of(against))));
        try (Chromium browser = Chromium.start(program.get(), Files.createDirectory(folder.resolve("profile")))) {
            browser.look(1600, 1000, "light");
            browser.open(page.toUri());
            browser.await("document.querySelectorAll('figure svg').length >= 6 && document.readyState === 'complete'");
            assertThat(texts(browser, "[...document.querySelectorAll('figure')].map(each => each.ariaLabel)"))
                    .containsExactlyInAnyOrder(
                            "Latency of a call",
                            "Median latency of a rare call",
                            "Time to the first reply",
                            "Median latency by size (RPCool: seals and copies of 1 to 1,024 pages)",
                            "Locks by threads, 95 % local (ALock, figure 5)",
                            "Locks by locality, 2 threads a node (ALock, figure 5)");
            assertThat(texts(browser, "[...document.querySelectorAll('[id]')].map(each => each.id)"))
                    .isNotEmpty()
                    .doesNotHaveDuplicates();
            assertThat(texts(browser, "[...document.querySelectorAll('p.failed')].map(each => each.textContent)"))
                    .isNotEmpty()
                    .noneMatch(each -> each.contains("plot could not"));
            for (int width : List.of(1600, 400)) {
                browser.look(width, 1000, "light");
                assertThat(browser.outside(width, ".wide, pre, svg"))
                        .as("what sticks out at " + width + " pixels")
                        .isEqualTo("[]");
                assertThat(browser.is("[...document.querySelectorAll('figure svg')].every(each =>"
                                + " each.getBoundingClientRect().width > 200"
                                + " && each.getBoundingClientRect().right <= " + width + ")"))
                        .as("plots at " + width + " pixels")
                        .isTrue();
            }
            String text = browser.evaluate("document.body.innerText").asString();
            assertThat(text)
                    .contains(
                            "Commit abc1234-dirty; the whole run took 172 s",
                            "Not measured: connect rackcall-noop: <b>it broke</b>",
                            "Skipped: idle: not enough time left",
                            "Compared 3 figures with the run of 2026-11-29T13:05:35Z: 1 got worse and 0 better",
                            "RPCool, table of no-op RPCs",
                            "not measured");
            assertThat(browser.is("document.querySelector('table.changes td:last-child').textContent === 'worse'"))
                    .isTrue();
            assertThat(browser.complaints()).isEmpty();
            assertThat(browser.requests()).allMatch(each -> each.equals("about:blank") || each.startsWith("file:"));
        }
    }
}
