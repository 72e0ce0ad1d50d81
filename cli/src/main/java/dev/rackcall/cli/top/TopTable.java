package dev.rackcall.cli.top;

import dev.rackcall.shm.os.ByteSize;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A report as lines of text. */
final class TopTable {
    /** A row, once the width of the column of channels is filled in. */
    private static final String CONNECTION =
            "%%7s %%7s  %%-%ds %%12s %%10s %%10s %%10s %%9s %%6s %%9s %%9s %%8s %%9s %%8s  %%-11s %%10s %%10s %%6s";

    private static final String PROCESS = "%9s %12s %12s %7s %6s %10s  %s";

    /** An empty line and the titles of columns above each of the two tables. */
    private static final int LINES_OF_TITLES = 4;

    /** A longer name moves the rest of its own row only. */
    private static final int WIDEST_CHANNEL = 40;

    private TopTable() {}

    /**
     * Both tables, in as many lines as there may be. If they do not fit, each tells how many rows are left out; that of
     * the processes gets a third of the lines, or what the other one does not need.
     */
    static List<String> lines(TopReport report, int most) {
        List<String> lines = new ArrayList<>();
        double rate = report.connections().stream()
                .mapToDouble(TopReport.ConnectionRow::requestsPerSecond)
                .sum();
        lines.add(format(
                "%s, %s, %,.0f requests/s",
                count(report.processes().size(), "process", "es"),
                count(report.connections().size(), "connection", "s"),
                rate));
        if (report.notReadable() > 0) {
            lines.add(count(report.notReadable(), "process", "es")
                    + " cannot be read; as root with CAP_SYS_PTRACE, top shows them, too.");
        }
        int connections = report.connections().size();
        int processes = report.processes().size();
        int room = Math.max(0, most - lines.size() - LINES_OF_TITLES);
        int processLines = Math.min(processes, Math.max(room / 3, room - connections));
        int connectionLines = Math.min(connections, room - processLines);
        if (!report.connections().isEmpty()) {
            lines.add("");
            String form = format(CONNECTION, channelWidth(report));
            lines.add(format(
                    form,
                    "SERVER",
                    "CLIENT",
                    "CHANNEL",
                    "REQUESTS/S",
                    "MEAN us",
                    "P50 us",
                    "P99 us",
                    "IN FLIGHT",
                    "ASLEEP",
                    "YIELDS/S",
                    "SLEEPS/S",
                    "SLOTS/S",
                    "PAUSES/S",
                    "POLLING",
                    "STATE",
                    "MEMORY",
                    "ARENAS",
                    "FULL"));
            add(
                    lines,
                    report.connections().stream().map(row -> line(form, row)).toList(),
                    connectionLines,
                    "connections");
        }
        if (!report.processes().isEmpty()) {
            lines.add("");
            lines.add(format(PROCESS, "PID", "SERVED/S", "SENT/S", "SERVES", "CALLS", "MEMORY", "PROCESS"));
            add(lines, report.processes().stream().map(TopTable::line).toList(), processLines, "processes");
        }
        return lines.subList(0, Math.min(most, lines.size()));
    }

    private static void add(List<String> lines, List<String> rows, int most, String what) {
        if (rows.size() <= most) {
            lines.addAll(rows);
            return;
        }
        int shown = Math.max(0, most - 1);
        lines.addAll(rows.subList(0, shown));
        lines.add("... and " + (rows.size() - shown) + " more " + what);
    }

    private static int channelWidth(TopReport report) {
        int longest = report.connections().stream()
                .filter(row -> row.invalid().isEmpty())
                .mapToInt(row -> row.channel().length())
                .max()
                .orElse(0);
        return Math.clamp(longest, "CHANNEL".length(), WIDEST_CHANNEL);
    }

    private static String line(String form, TopReport.ConnectionRow row) {
        if (row.invalid().isPresent()) {
            return row.channel() + "  invalid: " + row.invalid().get();
        }
        return format(
                form,
                pid(row.serverPid()),
                pid(row.clientPid()),
                row.channel(),
                format("%,.0f", row.requestsPerSecond()),
                mean(row),
                micros(row.p50Micros()),
                micros(row.p99Micros()),
                format("%.1f", row.inFlight()),
                told(row, String.valueOf(row.sleepingCallers())),
                told(row, format("%,.0f", row.waits().yields())),
                told(row, format("%,.0f", row.waits().sleeps())),
                told(row, format("%,.0f", row.waits().slots())),
                told(row, format("%,.0f", row.waits().pauses())),
                told(row, row.serverPolls() ? "yes" : "no"),
                row.state(),
                ByteSize.describe(row.memoryBytes()),
                row.arenaPercent().isPresent() ? ByteSize.describe(row.arenaBytes()) : "-",
                row.arenaPercent().isPresent()
                        ? format("%.0f%%", row.arenaPercent().getAsDouble())
                        : "-");
    }

    /** The memory of a gRPC connection does not tell how its ends wait. */
    private static String told(TopReport.ConnectionRow row, String value) {
        return row.usesGrpc() ? "-" : value;
    }

    private static String line(TopReport.ProcessRow row) {
        return format(
                PROCESS,
                row.pid(),
                format("%,.0f", row.servedPerSecond()),
                format("%,.0f", row.sentPerSecond()),
                row.serves(),
                row.calls(),
                ByteSize.describe(row.memoryBytes()),
                row.name());
    }

    private static String mean(TopReport.ConnectionRow row) {
        return row.outlastsASecond() ? ">1 s" : micros(row.meanMicros());
    }

    private static String micros(Optional<Double> time) {
        return time.map(micros -> format("%,.1f", micros)).orElse("-");
    }

    private static String pid(Optional<Integer> pid) {
        return pid.map(String::valueOf).orElse("-");
    }

    private static String count(int number, String what, String plural) {
        return number + " " + what + (number == 1 ? "" : plural);
    }

    private static String format(String form, Object... values) {
        return String.format(Locale.ROOT, form, values);
    }
}
