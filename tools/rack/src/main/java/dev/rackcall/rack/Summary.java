package dev.rackcall.rack;

import java.util.List;

/** The table at the end. */
final class Summary {
    private Summary() {}

    static String of(List<StepResult> results) {
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
    static boolean isGood(List<StepResult> results) {
        return !results.isEmpty() && results.stream().allMatch(StepResult::ok);
    }
}
