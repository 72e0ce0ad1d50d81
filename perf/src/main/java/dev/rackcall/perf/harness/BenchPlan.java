package dev.rackcall.perf.harness;

import java.io.PrintWriter;
import java.util.List;
import java.util.OptionalDouble;

/**
 * What to measure, and how.
 *
 * @param subjects the subjects, in the order of the report
 * @param locks the lock measurements; all if the list is empty
 * @param durationNanos length of one measurement
 * @param warmUpNanos the maximum length of a warm-up
 * @param repeat how often everything is measured, each time in fresh JVMs
 * @param rate calls a second; empty for a closed loop
 * @param depths calls in flight, for throughput
 * @param cores where the sides spin
 * @param progress where the user sees the progress
 */
public record BenchPlan(
        List<Subject> subjects,
        List<String> locks,
        long durationNanos,
        long warmUpNanos,
        int repeat,
        OptionalDouble rate,
        List<Integer> depths,
        Cores cores,
        PrintWriter progress) {
    /** Whether to measure a lock's result of that name. */
    public boolean measuresLock(String name) {
        return locks.isEmpty() || locks.contains(name);
    }

    /** Shows a line of progress. */
    public void say(String text) {
        progress.println(text);
        progress.flush();
    }
}
