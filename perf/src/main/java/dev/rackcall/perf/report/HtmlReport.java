package dev.rackcall.perf.report;

import dev.rackcall.perf.result.BenchOutcome;
import dev.rackcall.perf.result.BenchTarget;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The outcome as one HTML file: charts, the tables, and how the figures were measured. The page loads nothing. */
public final class HtmlReport {
    private HtmlReport() {}

    /** The page. */
    public static String render(BenchOutcome outcome) {
        StringBuilder body = new StringBuilder();
        outcome.skipped().forEach(what -> body.append(paragraph("", "Skipped: " + what)));
        outcome.failures().forEach(failure -> body.append(paragraph(" class=\"failed\"", "Not measured: " + failure)));
        for (ReportSection section : ReportSection.of(outcome)) {
            body.append("<h2>").append(escape(section.target().title())).append("</h2>\n");
            if (section.target() == BenchTarget.RTT || section.target() == BenchTarget.THROUGHPUT) {
                body.append(figure(section));
            }
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
            <title>Rackcall: measurements of %s</title>
            <style>
            body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
            table { border-collapse: collapse; margin: 1rem 0 }
            th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid #e3e3e3; vertical-align: top }
            th:first-child, td:first-child, .words td { text-align: left }
            figure { margin: 1.5rem 0 } svg { max-width: 100%%; height: auto }
            pre { background: #f5f5f5; padding: .8rem; overflow-x: auto } .failed { color: #a00 }
            </style>
            </head>
            <body>
            <h1>Rackcall and its peers, measured side by side</h1>
            <pre>%s</pre>
            %s<h2>How</h2>
            <p>Client and server are separate JVMs, started for each subject and repeat; figures are medians over the repeats. \
            A closed loop reads the clock once per call: the end of one call is the start of the next. Each latency therefore contains \
            one clock reading, for every subject alike. At a fixed rate a latency counts from the moment at which the call was due, \
            so it includes the wait behind a slow call. The client calls until the median no longer moves; only then does the \
            measurement begin. Every reply is checked. Sides that spin have a processor of their own where there are two, except those of NAME-unpinned, crowd-NAME and rare-NAME; with two \
            processors, all other work of the machine shows in p99.9. gRPC messages are plain bytes without protobuf, which flatters gRPC.</p>
            %s</body>
            </html>
            """.formatted(
                        escape(outcome.machine().date()),
                        escape(TableReport.conditions(outcome.machine())),
                        body,
                        table(" class=\"words\"", settings));
    }

    private static String figure(ReportSection section) {
        try {
            return "<figure role=\"img\" aria-label=\""
                    + escape(section.target().title()) + "\">\n" + Charts.svg(section) + "\n</figure>\n";
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
        StringBuilder table = new StringBuilder("<table" + attributes + ">\n");
        String cell = "th";
        for (List<String> row : rows) {
            table.append("<tr>");
            for (String text : row) {
                table.append("<" + cell + ">" + escape(text) + "</" + cell + ">");
            }
            table.append("</tr>\n");
            cell = "td";
        }
        return table.append("</table>\n").toString();
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
