package dev.rackcall.perf.harness;

import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Result;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Repeats a target over its subjects. Repeats go round by round over all subjects, so that a disturbance of some
 * seconds affects one run of several subjects and not all runs of one. Each run's main figures are shown as it ends, so that a
 * measurement that is cut off still yields figures. A subject that fails is reported, and the others continue. Once the
 * time is over, no further step begins.
 */
public final class Rounds {
    /** Measures one subject once, in processes of its own. */
    @FunctionalInterface
    public interface Run {
        List<Result> measure(Subject subject) throws IOException;
    }

    /** A step of a measurement that may fail. */
    @FunctionalInterface
    public interface Step {
        /** Does the step. */
        void run() throws IOException;
    }

    /** The progress line shows the remaining time from this length. */
    private static final long LEAST_SECONDS = 5;

    private static final int MOST_NAMES = 12;

    private final BenchPlan plan;
    private final BooleanSupplier isOver;
    private final List<String> failures = new ArrayList<>();
    private boolean isCutOff;

    /** Without a limit of time. */
    public Rounds(BenchPlan plan) {
        this(plan, () -> false);
    }

    /** @param isOver whether the time for the measurement is over; asked before each step */
    public Rounds(BenchPlan plan, BooleanSupplier isOver) {
        this.plan = plan;
        this.isOver = isOver;
    }

    /** Whether a step was left out because the time was over. */
    public boolean isCutOff() {
        return isCutOff;
    }

    /** Every failure so far: the target, the subject and the reason. */
    public List<String> failures() {
        return List.copyOf(failures);
    }

    /** Measures one subject after the other. */
    public List<Result> run(BenchTarget target, Predicate<Subject> takesPart, Run run) {
        List<List<Subject>> alone =
                plan.subjects().stream().filter(takesPart).map(List::of).toList();
        return runGroups(target, alone, group -> {
            List<Result> results = new ArrayList<>();
            attempt(target, group.getFirst(), () -> results.addAll(run.measure(group.getFirst())));
            return results;
        });
    }

    /** Measures one group of subjects after the other; the run attempts the steps of each subject by itself. */
    public List<Result> runGroups(
            BenchTarget target, List<List<Subject>> groups, Function<List<Subject>, List<Result>> run) {
        return runGroups(target, groups, plan.repeat(), run);
    }

    /** The same this many times. Several results of the same name from one step count as repeats, too. */
    public List<Result> runGroups(
            BenchTarget target, List<List<Subject>> groups, int repeat, Function<List<Subject>, List<Result>> run) {
        // One list of runs for each subject and depth, in the order of the first round.
        Map<String, List<Result>> runs = new LinkedHashMap<>();
        int steps = groups.size() * repeat;
        long begin = System.nanoTime();
        for (int step = 0; step < steps && !cutsOff(); step++) {
            List<Subject> group = groups.get(step % groups.size());
            long left = step == 0 ? 0 : (System.nanoTime() - begin) / step * (steps - step);
            long seconds = TimeUnit.NANOSECONDS.toSeconds(left);
            plan.say(target.word() + " " + (step + 1) + " of " + steps + ": "
                    + names(group)
                    + (seconds < LEAST_SECONDS ? "" : " (about " + seconds + " s to go)"));
            for (Result result : run.apply(group)) {
                String key = result.name() + "/" + result.figure("in_flight");
                runs.computeIfAbsent(key, unseen -> new ArrayList<>()).add(result);
                plan.say("  " + result.brief());
            }
        }
        return runs.values().stream().map(Result::medianOf).toList();
    }

    private static String names(List<Subject> group) {
        String first = group.stream().limit(MOST_NAMES).map(Subject::name).collect(Collectors.joining(", "));
        return group.size() <= MOST_NAMES ? first : first + " and " + (group.size() - MOST_NAMES) + " more";
    }

    /** Does a step; if it fails, records the failure and returns false. Returns false, too, if the time is over. */
    public boolean attempt(BenchTarget target, Subject subject, Step step) {
        return !cutsOff() && finish(target, subject, step);
    }

    private boolean cutsOff() {
        isCutOff |= isOver.getAsBoolean();
        return isCutOff;
    }

    /** The same even if the time is over: for what an earlier step has begun. */
    public boolean finish(BenchTarget target, Subject subject, Step step) {
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
