package dev.rackcall.perf.report;

import dev.rackcall.perf.result.BenchOutcome;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Figures;
import dev.rackcall.perf.result.Micro;
import dev.rackcall.perf.result.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/**
 * A target's part of a report.
 *
 * @param rows the table: its head, then one row for each result
 * @param notes sentences below the table
 */
record ReportSection(BenchTarget target, List<Result> results, List<List<String>> rows, List<String> notes) {
    /** The sections of all targets that have results, in the targets' order. */
    static List<ReportSection> of(BenchOutcome outcome) {
        List<ReportSection> sections = new ArrayList<>();
        for (BenchTarget target : BenchTarget.values()) {
            List<Result> results = outcome.results().stream()
                    .filter(result -> result.target() == target)
                    .toList();
            List<List<String>> rows = target.isMicro() ? microRows(target, outcome.micro()) : rows(target, results);
            if (rows.size() > 1) {
                List<String> notes = outcome.notes().getOrDefault(target, List.of());
                sections.add(new ReportSection(target, results, rows, notes));
            }
        }
        return sections;
    }

    private static List<List<String>> microRows(BenchTarget target, List<Micro> micro) {
        boolean objects = target == BenchTarget.OBJECTS;
        List<List<String>> rows = new ArrayList<>();
        rows.add(
                objects
                        ? List.of("benchmark", "ns/op", "deviation", "allocated/op", "bytes")
                        : List.of("benchmark", "ns/op", "error (99.9 %)", "allocated/op"));
        for (Micro each : micro) {
            if (each.target() != target) {
                continue;
            }
            String nanos = String.format(Locale.ROOT, "%.1f", each.nsPerOp());
            String error = String.format(Locale.ROOT, "%.1f", each.errorNs());
            List<String> row = new ArrayList<>(List.of(each.name(), nanos, error, Figures.bytes(each.allocBPerOp())));
            if (objects) {
                row.add(each.bytes() == 0 ? "" : Long.toString(each.bytes()));
            }
            rows.add(row);
        }
        return rows;
    }

    private static List<List<String>> rows(BenchTarget target, List<Result> results) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(new ArrayList<>(List.of("name", "p50", "p99", "p99.9", "calls/s", "in flight", "payload")));
        rows.getFirst().addAll(target.columns().values());
        for (Result result : results) {
            List<String> row = new ArrayList<>(List.of(result.name()));
            for (String key : List.of("p50_ns", "p99_ns", "p999_ns", "ops_per_s", "in_flight", "bytes")) {
                row.add(figure(result, key));
            }
            target.columns().keySet().forEach(key -> row.add(figure(result, key)));
            rows.add(row);
        }
        return rows;
    }

    /** A figure with its unit; empty if the result does not have it. */
    private static String figure(Result result, String key) {
        OptionalDouble figure = result.figure(key);
        return figure.isPresent() ? Figures.of(key, figure.getAsDouble()) : "";
    }
}
