package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.Report.Side;
import dev.rackcall.samples.demo.Report.SpeedUp;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** The report for people: all transports side by side. */
public final class TextReport {
    private static final int BAD_LINES_SHOWN = 5;

    private final PrintWriter out;
    private final Report report;

    private TextReport(PrintWriter out, Report report) {
        this.out = out;
        this.report = report;
    }

    public static void print(PrintWriter out, Report report) {
        TextReport text = new TextReport(out, report);
        text.head();
        text.table();
        text.foot();
        out.flush();
    }

    private void head() {
        DemoPlan plan = report.plan();
        String source = plan.input()
                .file()
                .map(Object::toString)
                .orElse("NoBench style, seed " + plan.input().seed());
        Report.Machine machine = report.machine();
        line("%s, %s, %s, %s", machine.cpu(), count(machine.cores(), "core"), machine.kernel(), machine.jvm());
        line(
                "%s (%s) from %s to one server, %d a call; then %s by number, and %s, half of them for a text, half for a range of numbers",
                count(report.pointer().documents(), "document"),
                source,
                count(plan.clients(), "client process"),
                plan.batch(),
                count(report.pointer().gets(), "get"),
                count(report.pointer().searches(), "search"));
        if (report.badLines() > 0) {
            line(
                    "%s %s no document and %s skipped:",
                    count(report.badLines(), "line"),
                    report.badLines() == 1 ? "holds" : "hold",
                    report.badLines() == 1 ? "was" : "were");
            report.firstBadLines().stream()
                    .limit(BAD_LINES_SHOWN)
                    .forEach(bad -> line("  %s:%d: %s", source, bad.number(), bad.reason()));
        }
        line("");
    }

    private void table() {
        row("", side -> side.transport().title(), _ -> 0);
        row("build", side -> seconds(side.buildNs()), SpeedUp::build);
        row("  documents/s", side -> perSecond(side.documents(), side.buildNs()), _ -> 0);
        row("  in the store's index", side -> seconds(side.indexNs()), _ -> 0);
        latencies("  put", Side::put, SpeedUp::putP50);
        row("get by number", side -> seconds(side.getNs()), SpeedUp::get);
        row("  gets/s", side -> perSecond(side.gets(), side.getNs()), _ -> 0);
        latencies("  get", Side::get, SpeedUp::getP50);
        row("search", side -> seconds(side.searchNs()), SpeedUp::search);
        row("  searches/s", side -> perSecond(side.searches(), side.searchNs()), _ -> 0);
        latencies("  search", Side::search, SpeedUp::searchP50);
        row("bytes copied, build", side -> bytes(side.putCopiedBytes()), _ -> 0);
        row("bytes copied, get", side -> bytes(side.getCopiedBytes()), _ -> 0);
        row("bytes copied, search", side -> bytes(side.searchCopiedBytes()), _ -> 0);
        row("bytes passed by pointer", side -> bytes(side.putPointedBytes()), _ -> 0);
        row("memory of a document", TextReport::perDocument, _ -> 0);
        line("");
    }

    private void latencies(String call, Function<Side, Report.Percentiles> of, ToDoubleFunction<SpeedUp> faster) {
        String indent = " ".repeat(call.length());
        row(call + ", p50", side -> time(of.apply(side).p50Ns()), faster);
        row(indent + "  p99", side -> time(of.apply(side).p99Ns()), _ -> 0);
        row(indent + "  p99.9", side -> time(of.apply(side).p999Ns()), _ -> 0);
    }

    /** @param faster how many times faster the run by pointer is; 0 if this row is not compared */
    private void row(String label, Function<Side, String> figure, ToDoubleFunction<SpeedUp> faster) {
        String row = "%-24s%13s%13s%9s%13s%9s"
                .formatted(
                        label,
                        figure.apply(report.pointer()),
                        figure.apply(report.serialised()),
                        times(faster.applyAsDouble(report.speedUp())),
                        figure.apply(report.grpc()),
                        times(faster.applyAsDouble(report.speedUpToGrpc())));
        out.println(row.stripTrailing());
    }

    private static String times(double faster) {
        return faster == 0 ? "" : String.format(Locale.ROOT, "%.1f x", faster);
    }

    private void foot() {
        Side side = report.pointer();
        line(
                "All stores hold the same %s, and each get and each search found the same: %s, of which %s came back and %s read.",
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

    private void line(String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
    }

    /** A number of things, in the plural unless it is one. */
    static String count(long number, String thing) {
        String many = thing.endsWith("s") || thing.endsWith("h") ? thing + "es" : thing + "s";
        return String.format(Locale.ROOT, "%,d %s", number, number == 1 ? thing : many);
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

    private static String perDocument(Side side) {
        // The other servers keep documents in the same form for the index, and besides as their clients sent them.
        boolean isWhole = side.transport() == StoreTransport.POINTER && side.documents() > 0;
        return isWhole ? bytes(side.heldBytes() / side.documents()) : "-";
    }
}
