package dev.rackcall.perf;

import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.harness.Rounds;
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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Measures steps within a time budget. It skips a step that will not fit, judged by the pace of the earlier steps, and cuts
 * a step off when the time is over.
 *
 * @param steps what to measure
 * @param budgetSeconds in which time
 * @param progress where the user sees the progress
 * @param clock the time in nanoseconds
 */
record ReportRun(List<ReportStep> steps, int budgetSeconds, PrintWriter progress, LongSupplier clock) {
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
        Map<String, Set<String>> namesBySettings = new LinkedHashMap<>();
        long start = clock.getAsLong();
        int left = steps.stream().mapToInt(ReportStep::seconds).sum();
        int done = 0;
        for (ReportStep step : steps) {
            double elapsed = secondsSince(start);
            // How many times as long as planned the measured steps took.
            double pace = done == 0 ? 1 : elapsed / done;
            if (elapsed + step.seconds() * Math.max(1, pace) > budgetSeconds) {
                skipped.add(step.target().word() + ": not enough time left");
            } else {
                progress.printf(
                        "== %s (%s of at most %s; about %s to go)%n",
                        step.target().word(), minutes(elapsed), minutes(budgetSeconds), minutes(left * pace));
                try {
                    BenchRun run = step.run(progress);
                    Rounds rounds = new Rounds(run.plan(), () -> secondsSince(start) > budgetSeconds);
                    BenchOutcome outcome = run.measure(machine.command(), rounds);
                    results.addAll(outcome.results());
                    micro.addAll(outcome.micro());
                    skipped.addAll(outcome.skipped());
                    failures.addAll(outcome.failures());
                    crossings.addAll(outcome.autoCrossings());
                    List<String> own = new ArrayList<>(List.of(step.sentence()));
                    own.addAll(outcome.notes().getOrDefault(step.target(), List.of()));
                    notes.put(step.target(), own);
                    outcome.settings()
                            .forEach((names, common) -> namesBySettings
                                    .computeIfAbsent(common, _ -> new LinkedHashSet<>())
                                    .addAll(List.of(names.split(", "))));
                    if (rounds.isCutOff()) {
                        skipped.add(step.target().word() + ": cut off, the time was over");
                    }
                    done += step.seconds();
                } catch (RuntimeException e) {
                    failures.add(step.target().word() + ": " + e);
                    progress.println("failed: " + failures.getLast());
                }
            }
            left -= step.seconds();
        }
        Map<String, String> settings = new LinkedHashMap<>();
        namesBySettings.forEach((common, names) -> settings.put(String.join(", ", names), common));
        return new BenchOutcome(machine, results, micro, skipped, failures, crossings, notes, settings);
    }

    private double secondsSince(long start) {
        return (clock.getAsLong() - start) / 1e9;
    }

    private static String minutes(double seconds) {
        return "%d:%02d".formatted((int) seconds / 60, (int) seconds % 60);
    }
}
