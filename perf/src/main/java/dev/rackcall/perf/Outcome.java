package dev.rackcall.perf;

import java.util.List;

/**
 * All that a run found; what the JSON shows.
 *
 * @param machine where and how
 * @param results one for each subject, target and depth
 * @param failures what could not be measured, and why
 */
record Outcome(Machine machine, List<Result> results, List<String> failures) {}
