package dev.rackcall.perf;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Tells whoever waits for a target how far it is, in one line for each step. */
final class Progress {
    /** Less is not worth a word. */
    private static final long LEAST_SECONDS = 5;

    private final Plan plan;
    private final Target target;
    private final int steps;
    private final long begun = System.nanoTime();
    private int step;

    /** @param steps how often {@link #next} will be called */
    Progress(Plan plan, Target target, int steps) {
        this.plan = plan;
        this.target = target;
        this.steps = steps;
    }

    /** These subjects are about to be measured. */
    void next(List<Subject> subjects) {
        long left = step == 0 ? 0 : (System.nanoTime() - begun) / step * (steps - step);
        step++;
        long seconds = TimeUnit.NANOSECONDS.toSeconds(left);
        String names = subjects.stream().map(Subject::name).collect(Collectors.joining(", "));
        plan.say(target.word() + " " + step + " of " + steps + ": " + names
                + (seconds < LEAST_SECONDS ? "" : " (about " + seconds + " s to go)"));
    }
}
