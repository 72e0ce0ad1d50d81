package dev.rackcall.perf;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

    private final Plan plan;
    private final List<String> failures = new ArrayList<>();

    Runner(Plan plan) {
        this.plan = plan;
    }

    /** What could not be measured so far. */
    List<String> failures() {
        return List.copyOf(failures);
    }

    List<Result> run(Target target, Predicate<Subject> takesPart, Run run) {
        // One list of runs for each subject and depth, in the order of the first round.
        Map<String, List<Result>> runs = new LinkedHashMap<>();
        List<Subject> subjects = plan.subjects().stream().filter(takesPart).toList();
        for (int round = 1; round <= plan.repeat(); round++) {
            for (Subject subject : subjects) {
                plan.say(target.word() + " " + subject.name()
                        + (plan.repeat() > 1 ? " " + round + "/" + plan.repeat() : ""));
                for (Result result : once(target, subject, run)) {
                    runs.computeIfAbsent(result.name() + "/" + result.inFlight(), key -> new ArrayList<>())
                            .add(result);
                }
            }
        }
        return runs.values().stream().map(Result::medianOf).toList();
    }

    private List<Result> once(Target target, Subject subject, Run run) {
        try {
            return run.measure(subject);
        } catch (IOException | RuntimeException e) {
            String failure = target.word() + " " + subject.name() + ": " + e.getMessage();
            failures.add(failure);
            plan.say("failed: " + failure);
            return List.of();
        }
    }
}
