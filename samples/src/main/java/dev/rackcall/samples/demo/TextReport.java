package dev.rackcall.samples.demo;

import java.io.PrintWriter;
import java.util.Locale;

/** The report for people: both transports side by side. */
public final class TextReport {
    private static final int LABEL = 30;
    private static final int FIGURE = 14;

    private final PrintWriter out;
    private final Report report;

    private TextReport(PrintWriter out, Report report) {
        this.out = out;
        this.report = report;
    }

    /** Prints a report. */
    public static void print(PrintWriter out, Report report) {
        new TextReport(out, report).print();
        out.flush();
    }

    private void print() {
        Report.Side left = report.pointer();
        Report.Side right = report.serialised();
        head(left);
        out.println();
        row("", left.transport().title(), right.transport().title(), "");
        row(
                "build",
                seconds(left.buildNs()),
                seconds(right.buildNs()),
                times(report.speedUp().build()));
        row(
                "  documents/s",
                perSecond(left.documents(), left.buildNs()),
                perSecond(right.documents(), right.buildNs()));
        row("  of it, in the store's index", seconds(left.indexNs()), seconds(right.indexNs()));
        latencies("  put", left.put(), right.put(), report.speedUp().putP50());
        row(
                "search",
                seconds(left.searchNs()),
                seconds(right.searchNs()),
                times(report.speedUp().search()));
        row("  searches/s", perSecond(left.searches(), left.searchNs()), perSecond(right.searches(), right.searchNs()));
        latencies("  search", left.search(), right.search(), report.speedUp().searchP50());
        row("bytes copied, build", bytes(left.putCopiedBytes()), bytes(right.putCopiedBytes()));
        row("bytes copied, search", bytes(left.searchCopiedBytes()), bytes(right.searchCopiedBytes()));
        row("bytes passed by pointer", bytes(left.putPointedBytes()), bytes(right.putPointedBytes()));
        row("memory of a document", perDocument(left), perDocument(right));
        out.println();
        foot(left);
    }

    private void head(Report.Side side) {
        DemoPlan plan = report.plan();
        DemoPlan.Input input = plan.input();
        line(
                "%s, %s, %s, %s",
                report.machine().cpu(),
                count(report.machine().cores(), "core"),
                report.machine().kernel(),
                report.machine().jvm());
        line(
                "%s (%s) from %s to one server, %d a call; then %s, half of them for a text, half for a range of numbers",
                count(side.documents(), "document"),
                input.file().map(Object::toString).orElse("NoBench style, seed " + input.seed()),
                count(plan.clients(), "client process"),
                plan.batch(),
                count(side.searches(), "search"));
        if (report.badLines() > 0) {
            line(
                    report.badLines() == 1
                            ? "%s holds no document and was passed over:"
                            : "%s hold no document and were passed over:",
                    count(report.badLines(), "line"));
            report.firstBadLines().stream()
                    .limit(SHOWN)
                    .forEach(bad -> line(
                            "  %s:%d: %s", input.file().map(Object::toString).orElse(""), bad.number(), bad.reason()));
        }
    }

    private static final int SHOWN = 5;

    private void latencies(String call, Report.Percentiles left, Report.Percentiles right, double faster) {
        row(call + ", p50", time(left.p50Ns()), time(right.p50Ns()), times(faster));
        row(" ".repeat(call.length()) + "  p99", time(left.p99Ns()), time(right.p99Ns()));
        row(" ".repeat(call.length()) + "  p99.9", time(left.p999Ns()), time(right.p999Ns()));
    }

    private void foot(Report.Side side) {
        line(
                "Both stores hold the same %s, and each search found the same: %s, of which %s came back and %s read.",
                count(side.documents(), "document"),
                count(side.matches(), "match"),
                count(side.read(), "document"),
                side.read() == 1 ? "was" : "were");
        line(
                "%s %.1f s in all.",
                report.leftBehind().isEmpty()
                        ? "Nothing is left behind: no process, no file."
                        : "Left behind, or made by another program meanwhile: " + String.join(", ", report.leftBehind())
                                + ".",
                report.seconds());
    }

    private void row(String label, String left, String right) {
        row(label, left, right, "");
    }

    private void row(String label, String left, String right, String faster) {
        out.println((pad(label) + align(left) + align(right) + align(faster)).stripTrailing());
    }

    /** A number of things, in the plural unless it is one. */
    static String count(long number, String thing) {
        String many = thing.endsWith("s") || thing.endsWith("h") ? thing + "es" : thing + "s";
        return String.format(Locale.ROOT, "%,d %s", number, number == 1 ? thing : many);
    }

    private void line(String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
    }

    private static String pad(String text) {
        return text + " ".repeat(Math.max(1, LABEL - text.length()));
    }

    private static String align(String text) {
        return " ".repeat(Math.max(1, FIGURE - text.length())) + text;
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.2f s", nanos / 1e9);
    }

    private static String perSecond(long items, long nanos) {
        return nanos == 0 ? "-" : String.format(Locale.ROOT, "%,.0f", items * 1e9 / nanos);
    }

    private static String time(long nanos) {
        return nanos < 10_000_000
                ? String.format(Locale.ROOT, "%,.1f us", nanos / 1e3)
                : String.format(Locale.ROOT, "%,.1f ms", nanos / 1e6);
    }

    private static String bytes(long bytes) {
        if (bytes < 10 << 10) {
            return bytes + " B";
        }
        return bytes < 10 << 20
                ? String.format(Locale.ROOT, "%.1f KiB", bytes / 1024.0)
                : String.format(Locale.ROOT, "%.1f MiB", bytes / (1024.0 * 1024));
    }

    private static String perDocument(Report.Side side) {
        return side.documents() == 0 ? "-" : bytes(side.heldBytes() / side.documents());
    }

    private static String times(double factor) {
        return factor == 0 ? "" : String.format(Locale.ROOT, "%.1f x", factor);
    }
}
