package dev.rackcall.cli.top;

import dev.rackcall.shm.os.ByteSize;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A report as lines of text. */
final class TopTable {
    private static final String CONNECTION = "%12s %10s %9s %6s %9s %9s %8s  %-11s %10s  %s";
    private static final String PROCESS = "%9s %12s %12s %7s %6s %10s  %s";

    private TopTable() {}

    static List<String> lines(TopReport report) {
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
                    + " of other users cannot be read; as root, top shows them, too.");
        }
        if (!report.connections().isEmpty()) {
            lines.add("");
            lines.add(format(
                    CONNECTION,
                    "REQUESTS/S",
                    "MEAN us",
                    "IN FLIGHT",
                    "ASLEEP",
                    "SERVER",
                    "CLIENT",
                    "POLLING",
                    "STATE",
                    "MEMORY",
                    "CHANNEL"));
            report.connections().forEach(row -> lines.add(line(row)));
        }
        if (!report.processes().isEmpty()) {
            lines.add("");
            lines.add(format(PROCESS, "PID", "SERVED/S", "SENT/S", "SERVES", "CALLS", "MEMORY", "PROCESS"));
            report.processes().forEach(row -> lines.add(line(row)));
        }
        return lines;
    }

    private static String line(TopReport.ConnectionRow row) {
        if (row.invalid().isPresent()) {
            return row.channel() + "  invalid: " + row.invalid().get();
        }
        return format(
                CONNECTION,
                format("%,.0f", row.requestsPerSecond()),
                row.meanMicros().map(mean -> format("%,.1f", mean)).orElse("-"),
                format("%.1f", row.inFlight()),
                row.sleepingCallers(),
                pid(row.serverPid()),
                pid(row.clientPid()),
                row.serverPolls() ? "yes" : "no",
                row.state(),
                ByteSize.describe(row.memoryBytes()),
                row.channel());
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
