package dev.rackcall.perf.report;

import dev.rackcall.perf.result.BenchOutcome;
import dev.rackcall.perf.result.Figures;
import dev.rackcall.perf.result.Machine;
import java.util.List;
import java.util.Locale;

/** The outcome as text for a terminal. */
public final class TableReport {
    private TableReport() {}

    /** Tables, the conditions of the run, and what was not measured. */
    public static String render(BenchOutcome outcome) {
        StringBuilder text = new StringBuilder();
        for (ReportSection section : ReportSection.of(outcome)) {
            text.append(section.target().title()).append('\n');
            appendTable(text, section.rows());
            text.append('\n');
            section.notes().forEach(note -> text.append(note).append('\n'));
            text.append(section.notes().isEmpty() ? "" : "\n");
        }
        text.append(conditions(outcome.machine()));
        outcome.skipped().forEach(what -> text.append("SKIPPED: ").append(what).append('\n'));
        outcome.failures()
                .forEach(failure -> text.append("FAILED: ").append(failure).append('\n'));
        return text.toString();
    }

    /** The first column is aligned left, the others right. */
    private static void appendTable(StringBuilder text, List<List<String>> rows) {
        int[] widths = new int[rows.getFirst().size()];
        for (List<String> row : rows) {
            for (int column = 0; column < widths.length; column++) {
                widths[column] = Math.max(widths[column], row.get(column).length());
            }
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < widths.length; column++) {
                String format = column == 0 ? "%-" + widths[0] + "s" : "  %" + widths[column] + "s";
                line.append(String.format(format, row.get(column)));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
    }

    /** The conditions of the run, in four lines. */
    static String conditions(Machine machine) {
        return String.format(
                Locale.ROOT,
                "%s, %d cores, %s memory, %s, load at the start %.2f%n%s %s%n"
                        + "spinning sides on processors %s; each latency contains one clock reading (%s, %.1f ns)%n"
                        + "%s%s, %s%n",
                machine.cpu(),
                machine.cores(),
                Figures.bytes((double) machine.memoryBytes()),
                machine.kernel(),
                machine.load1m(),
                machine.jvm(),
                String.join(" ", machine.flags()),
                machine.pinned().isEmpty()
                        ? "of the scheduler's choice"
                        : machine.pinned() + ", except of NAME-unpinned, crowd, ycsb, rare and social",
                machine.clockSource(),
                machine.clockNs(),
                machine.durationS() > 0 ? Figures.time(machine.durationS() * 1e9) + " per measurement, " : "",
                machine.date(),
                machine.command());
    }
}
