package dev.rackcall.perf;

import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.result.BenchOutcome;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Crossing;
import dev.rackcall.perf.result.Machine;
import dev.rackcall.perf.result.Micro;
import dev.rackcall.perf.result.Result;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures steps within a time. A step that would exceed it, given the pace of those before, is left out.
 *
 * @param steps what to measure
 * @param budgetSeconds in which time
 * @param progress where the user sees the progress
 */
record ReportRun(List<ReportStep> steps, int budgetSeconds, PrintWriter progress) {
    /** Where the sides spin. */
    Cores cores() {
        return Cores.choose();
    }

    /** @param machine the conditions of the whole run */
    BenchOutcome measure(Machine machine) {
        List<Result> results = new ArrayList<>();
        List<Micro> micro = new ArrayList<>();
        List<String> skipped = new ArrayList<>();
        List<String> failures = new ArrayList<>();
        List<Crossing> crossings = new ArrayList<>();
        Map<BenchTarget, List<String>> notes = new EnumMap<>(BenchTarget.class);
        Map<String, String> settings = new LinkedHashMap<>();
        long start = System.nanoTime();
        int planned = steps.stream().mapToInt(ReportStep::seconds).sum();
        int left = planned;
        for (ReportStep step : steps) {
            double elapsed = (System.nanoTime() - start) / 1e9;
            // How many times as long as planned it took so far.
            double pace = left == planned ? 1 : elapsed / (planned - left);
            if (elapsed + step.seconds() * Math.max(1, pace) > budgetSeconds) {
                skipped.add(step.target().word() + ": it would have exceeded the time of this report");
            } else {
                progress.printf(
                        "== %s (%s of at most %s; about %s to go)%n",
                        step.target().word(), clock(elapsed), clock(budgetSeconds), clock(left * pace));
                try {
                    BenchOutcome outcome = step.run(progress).measure(machine.command());
                    results.addAll(outcome.results());
                    micro.addAll(outcome.micro());
                    skipped.addAll(outcome.skipped());
                    failures.addAll(outcome.failures());
                    crossings.addAll(outcome.autoCrossings());
                    List<String> own = new ArrayList<>(List.of(step.sentence()));
                    own.addAll(outcome.notes().getOrDefault(step.target(), List.of()));
                    notes.put(step.target(), own);
                    settings.putAll(outcome.settings());
                } catch (RuntimeException e) {
                    failures.add(step.target().word() + ": " + e);
                    progress.println("failed: " + failures.getLast());
                }
            }
            left -= step.seconds();
        }
        return new BenchOutcome(machine, results, micro, skipped, failures, crossings, notes, settings);
    }

    private static String clock(double seconds) {
        return "%d:%02d".formatted((int) seconds / 60, (int) seconds % 60);
    }
}
