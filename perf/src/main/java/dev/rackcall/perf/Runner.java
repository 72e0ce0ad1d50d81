package dev.rackcall.perf;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Runs a target over its subjects. Repeats go round by round over all subjects, so that a disturbance of some seconds meets one run of
 * several subjects and not all runs of one. A subject that fails is reported and the others go on.
 */
final class Runner {
    /** Measures one subject once, in processes of its own. */
    @FunctionalInterface
    interface Run {
        List<Result> measure(Subject subject) throws IOException;
    }

    /** A step of a measurement that may fail. */
    @FunctionalInterface
    interface Step {
        void run() throws IOException;
    }

    private final Plan plan;
    private final List<String> failures = new ArrayList<>();

    Runner(Plan plan) {
        this.plan = plan;
    }

    /** What could not be measured so far. */
    List<String> failures() {
        return List.copyOf(failures);
    }

    /** Measures one subject after the other. */
    List<Result> run(Target target, Predicate<Subject> takesPart, Run run) {
        List<List<Subject>> alone =
                plan.subjects().stream().filter(takesPart).map(List::of).toList();
        return runGroups(target, alone, group -> {
            List<Result> results = new ArrayList<>();
            attempt(target, group.getFirst(), () -> results.addAll(run.measure(group.getFirst())));
            return results;
        });
    }

    /** Measures one group of subjects after the other; the run attempts the steps of each subject by itself. */
    List<Result> runGroups(Target target, List<List<Subject>> groups, Function<List<Subject>, List<Result>> run) {
        // One list of runs for each subject and depth, in the order of the first round.
        Map<String, List<Result>> runs = new LinkedHashMap<>();
        Progress progress = new Progress(plan, target, groups.size() * plan.repeat());
        for (int round = 1; round <= plan.repeat(); round++) {
            for (List<Subject> group : groups) {
                progress.next(group);
                for (Result result : run.apply(group)) {
                    runs.computeIfAbsent(result.name() + "/" + result.inFlight(), key -> new ArrayList<>())
                            .add(result);
                }
            }
        }
        return runs.values().stream().map(Result::medianOf).toList();
    }

    /** Does a step; if it fails, says so and returns false. */
    boolean attempt(Target target, Subject subject, Step step) {
        try {
            step.run();
            return true;
        } catch (IOException | RuntimeException e) {
            String failure = target.word() + " " + subject.name() + ": " + e.getMessage();
            failures.add(failure);
            plan.say("failed: " + failure);
            return false;
        }
    }
}
