package dev.rackcall.rack;

import dev.rackcall.rack.guest.Step;
import java.util.List;

/**
 * The results of a run's steps, by step and guest.
 *
 * @param results one for each step and guest
 */
record Summary(List<StepResult> results) {
    /**
     * The result of one step in one guest.
     *
     * @param ok whether the step was successful
     * @param seconds that it took; 0 if it did not end
     * @param text one line for the user
     */
    record StepResult(Step step, String guest, boolean ok, double seconds, String text) {}

    /** The table at the end. */
    String table() {
        StringBuilder table =
                new StringBuilder("%n%-9s %-6s %-7s %7s  %s%n".formatted("step", "guest", "result", "seconds", ""));
        for (StepResult result : results) {
            table.append("%-9s %-6s %-7s %7.1f  %s%n"
                    .formatted(
                            result.step().word(),
                            result.guest(),
                            result.ok() ? "ok" : "FAILED",
                            result.seconds(),
                            result.text()));
        }
        return table.toString();
    }

    /** Whether there are results and all are good. */
    boolean isGood() {
        return !results.isEmpty() && results.stream().allMatch(StepResult::ok);
    }
}
