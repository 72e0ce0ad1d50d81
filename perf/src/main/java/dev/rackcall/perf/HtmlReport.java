package dev.rackcall.perf;

import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;

/** The outcome as one HTML file for people: plots, the tables, and how the figures came about. Loads nothing from elsewhere. */
final class HtmlReport {
    private static final String STYLE = """
            body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
            table { border-collapse: collapse; margin: 1rem 0 }
            th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid #e3e3e3; vertical-align: top }
            th:first-child, td:first-child, .words td { text-align: left }
            figure { margin: 1.5rem 0 } svg { max-width: 100%; height: auto }
            pre { background: #f5f5f5; padding: .8rem; overflow-x: auto } .failed { color: #a00 }
            """;

    private HtmlReport() {}

    static String render(Outcome outcome) {
        StringBuilder page = new StringBuilder();
        page.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
                .append("<title>Rackcall: measurements of ")
                .append(escape(outcome.machine().date()))
                .append("</title>\n<style>\n")
                .append(STYLE)
                .append("</style>\n</head>\n<body>\n<h1>Rackcall and its peers, measured side by side</h1>\n");
        page.append("<pre>")
                .append(escape(TableFormat.machine(outcome.machine())))
                .append("</pre>\n");
        outcome.skipped()
                .forEach(
                        what -> page.append("<p>Skipped: ").append(escape(what)).append("</p>\n"));
        outcome.failures()
                .forEach(failure -> page.append("<p class=\"failed\">Not measured: ")
                        .append(escape(failure))
                        .append("</p>\n"));
        for (Target target : Target.values()) {
            List<Result> results = outcome.results().stream()
                    .filter(result -> result.target().equals(target.word()))
                    .toList();
            if (!results.isEmpty()) {
                section(page, target, results);
                if (target == Target.ISOLATION) {
                    outcome.crossings()
                            .forEach(crossing -> page.append("<p>")
                                    .append(escape(crossing.sentence()))
                                    .append("</p>\n"));
                }
            }
        }
        if (!outcome.micro().isEmpty()) {
            page.append("<h2>").append(escape(TableFormat.title(Target.JMH))).append("</h2>\n");
            table(page, TableFormat.microRows(outcome.micro()));
        }
        method(page, outcome);
        return page.append("</body>\n</html>\n").toString();
    }

    private static void section(StringBuilder page, Target target, List<Result> results) {
        page.append("<h2>").append(escape(TableFormat.title(target))).append("</h2>\n");
        if (target == Target.RTT || target == Target.THROUGHPUT) {
            page.append(figure(target, results));
        }
        table(page, TableFormat.rows(target, results));
    }

    private static void table(StringBuilder page, List<List<String>> rows) {
        page.append("<table>\n");
        page.append(row("th", rows.getFirst()));
        rows.subList(1, rows.size()).forEach(row -> page.append(row("td", row)));
        page.append("</table>\n");
    }

    private static String figure(Target target, List<Result> results) {
        try {
            String svg =
                    Plots.svg(target == Target.RTT ? Plots.latency(results) : Plots.throughput(results), target.word());
            return "<figure role=\"img\" aria-label=\"" + escape(TableFormat.title(target)) + "\">\n" + svg
                    + "\n</figure>\n";
        } catch (IOException | RuntimeException | LinkageError | InternalError e) {
            // A missing font shows as any of these; the tables hold the same figures.
            return "<p class=\"failed\">The plot could not be drawn: " + escape(e.toString())
                    + ". If that is about fonts: install fontconfig and a TrueType font, for example the package"
                    + " fonts-dejavu-core.</p>\n";
        }
    }

    private static void method(StringBuilder page, Outcome outcome) {
        page.append("<h2>How</h2>\n<p>")
                .append("""
                        Client and server are separate JVMs, started afresh for each subject and repeat; figures are medians over the repeats. \
                        A closed loop reads the clock once per call: the end of one call is the start of the next, so that each latency contains \
                        one clock reading, for every subject alike. At a fixed rate a latency counts from the moment at which the call was due, \
                        so that waiting behind a slow call is counted. Calls are made until the median no longer moves, then measured. Every \
                        reply is checked. Sides that spin have a processor of their own where there are two; with two processors, whatever else \
                        the machine does shows in p99.9. gRPC messages are plain bytes without protobuf, which flatters gRPC.""")
                .append("</p>\n<table class=\"words\">\n")
                .append(row("th", List.of("name", "settings")));
        List<String> names =
                outcome.results().stream().map(Result::name).distinct().toList();
        Subjects.all().stream()
                .filter(subject -> names.contains(subject.name()))
                .forEach(subject -> page.append(row("td", List.of(subject.name(), subject.settings()))));
        page.append("</table>\n");
    }

    private static String row(String cell, List<String> texts) {
        return texts.stream()
                .map(text -> "<" + cell + ">" + escape(text) + "</" + cell + ">")
                .collect(Collectors.joining("", "<tr>", "</tr>\n"));
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
