package dev.rackcall.perf.report;

import dev.rackcall.perf.result.BenchOutcome;
import dev.rackcall.perf.result.BenchReport;
import dev.rackcall.perf.result.Change;
import dev.rackcall.perf.result.Figures;
import dev.rackcall.perf.result.Paper;
import dev.rackcall.perf.result.RunComparison;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The outcome as one HTML file: charts, the tables, and how the figures were measured. The page loads nothing. */
public final class HtmlReport {
    private HtmlReport() {}

    /** The page of a report: also the comparison with an earlier run, and the papers' numbers. */
    public static String render(BenchReport report) {
        StringBuilder lead = new StringBuilder();
        report.against().ifPresent(comparison -> append(lead, comparison));
        lead.append(papers(report));
        return render(
                report.outcome(),
                "Commit %s; the whole run took %.0f s%n".formatted(report.commit(), report.tookS()),
                lead.toString());
    }

    /** The page. */
    public static String render(BenchOutcome outcome) {
        return render(outcome, "", "");
    }

    private static void append(StringBuilder text, RunComparison comparison) {
        text.append("<h2>What changed</h2>\n");
        comparison.sentences().forEach(each -> text.append(paragraph("", each)));
        List<List<String>> rows = new ArrayList<>(List.of(List.of("target", "name", "figure", "before", "now", "")));
        changes(rows, comparison.worse(), "worse");
        changes(rows, comparison.better(), "better");
        changes(rows, comparison.peers(), "peer");
        if (rows.size() > 1) {
            text.append(table(" class=\"changes\"", rows));
        }
    }

    private static void changes(List<List<String>> rows, List<Change> changes, String word) {
        changes.forEach(each -> rows.add(List.of(
                each.target().word(),
                each.name() + (each.inFlight() > 1 ? " (" + each.inFlight() + " in flight)" : ""),
                each.figure(),
                Figures.of(each.figure(), each.before()),
                Figures.of(each.figure(), each.after()),
                word)));
    }

    private static String ratio(double ratio) {
        return String.format(Locale.ROOT, ratio >= 10 ? "%.0f" : ratio >= 0.1 ? "%.2f" : "%.2g", ratio);
    }

    private static String papers(BenchReport report) {
        List<List<String>> rows = new ArrayList<>(
                List.of(List.of("what", "paper", "theirs", "ours", "ours / theirs", "our subject", "what differs")));
        for (BenchReport.PaperRow row : report.papers()) {
            Paper.PaperFigure figure = row.figure();
            rows.add(List.of(
                    figure.what(),
                    row.paper() + ", " + figure.where(),
                    Figures.of(figure.figure(), figure.theirs()),
                    row.ours().isPresent()
                            ? Figures.of(figure.figure(), row.ours().getAsDouble())
                            : "not measured",
                    row.ours().isPresent() ? ratio(row.ours().getAsDouble() / figure.theirs()) : "",
                    figure.target() + " " + figure.name(),
                    figure.differs()));
        }
        StringBuilder text = new StringBuilder("<h2>Beside the papers</h2>\n")
                .append(paragraph("", "Other hardware, other languages: these numbers show the order of magnitude."))
                .append(table(" class=\"papers\"", rows));
        Paper.all()
                .forEach(paper -> text.append(paragraph(
                        "", paper.paper() + ": " + paper.source() + ". Measured on: " + paper.hardware() + ".")));
        return text.toString();
    }

    private static String render(BenchOutcome outcome, String conditions, String lead) {
        StringBuilder body = new StringBuilder();
        outcome.skipped().forEach(what -> body.append(paragraph("", "Skipped: " + what)));
        outcome.failures().forEach(failure -> body.append(paragraph(" class=\"failed\"", "Not measured: " + failure)));
        for (ReportSection section : ReportSection.of(outcome)) {
            body.append("<h2>").append(escape(section.target().title())).append("</h2>\n");
            Charts.of(section).forEach(chart -> body.append(figure(chart)));
            body.append(table("", section.rows()));
            section.notes().forEach(note -> body.append(paragraph("", note)));
        }
        List<List<String>> settings = new ArrayList<>(List.of(List.of("name", "settings")));
        outcome.settings().forEach((name, chosen) -> settings.add(List.of(name, chosen)));
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Rackcall: measurements of %s</title>
            <style>
            body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
            table { border-collapse: collapse; margin: 1rem 0 }
            th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid #e3e3e3; vertical-align: top }
            th:first-child, td:first-child { text-align: left }
            .wide { overflow-x: auto } .wide td { white-space: nowrap } .words td, .papers td { white-space: normal }
            .words td, .papers td { text-align: left }
            .papers td:nth-child(n + 3):nth-child(-n + 5) { text-align: right; white-space: nowrap } .papers td:last-child { min-width: 14rem }
            h1, h2, p { overflow-wrap: anywhere }
            figure { margin: 1.5rem 0 } svg { max-width: 100%%; height: auto }
            pre { background: #f5f5f5; padding: .8rem; overflow-x: auto } .failed { color: #a00 }
            </style>
            </head>
            <body>
            <h1>Rackcall and its peers, measured side by side</h1>
            <pre>%s</pre>
            %s%s<h2>How</h2>
            <p>Client and server are separate JVMs, started for each subject and repeat; figures are medians over the repeats. \
            A closed loop reads the clock once per call: the end of one call is the start of the next. Each latency therefore contains \
            one clock reading, for every subject alike. At a fixed rate a latency counts from the moment at which the call was due, \
            so it includes the wait behind a slow call. The client calls until the median no longer moves; only then does the \
            measurement begin. Every reply is checked. Sides that spin have a processor of their own where there are two, except those of NAME-unpinned, crowd-NAME, ycsb-NAME, rare-NAME and social-NAME; with two \
            processors, all other work of the machine shows in p99.9. gRPC messages are plain bytes without protobuf, which flatters gRPC.</p>
            %s</body>
            </html>
            """.formatted(
                        escape(outcome.machine().date()),
                        escape(conditions + TableReport.conditions(outcome.machine())),
                        lead,
                        body,
                        table(" class=\"words\"", settings));
    }

    private static String figure(Charts.Plot plot) {
        try {
            return "<figure role=\"img\" aria-label=\"" + escape(plot.title()) + "\">\n" + Charts.svg(plot)
                    + "\n</figure>\n";
        } catch (IOException | RuntimeException | LinkageError | InternalError e) {
            // A missing font causes any of these; the tables hold the same figures.
            return paragraph(
                    " class=\"failed\"",
                    "The plot could not be drawn: " + e + ". If the cause is a missing font: install fontconfig and a"
                            + " TrueType font, for example the package fonts-dejavu-core.");
        }
    }

    private static String paragraph(String attributes, String text) {
        return "<p" + attributes + ">" + escape(text) + "</p>\n";
    }

    private static String table(String attributes, List<List<String>> rows) {
        // On a narrow screen a wide table scrolls, not the page.
        StringBuilder table = new StringBuilder("<div class=\"wide\"><table" + attributes + ">\n");
        String cell = "th";
        for (List<String> row : rows) {
            table.append("<tr>");
            for (String text : row) {
                table.append("<" + cell + ">" + escape(text) + "</" + cell + ">");
            }
            table.append("</tr>\n");
            cell = "td";
        }
        return table.append("</table></div>\n").toString();
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
