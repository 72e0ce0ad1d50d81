package dev.rackcall.perf;

import java.io.PrintWriter;
import java.util.List;
import java.util.OptionalDouble;

/**
 * What was asked for.
 *
 * @param subjects what to measure, in the order of the report
 * @param locks which of {@link LockTarget#names} to measure; all if there are none
 * @param durationNanos length of one measurement
 * @param warmUpNanos the most that a warm-up may take
 * @param repeat how often everything is measured, each time in fresh JVMs
 * @param rate calls a second; empty for a closed loop
 * @param depths calls in flight, for throughput
 * @param cores where the sides spin
 * @param progress where a person sees what is going on
 */
record Plan(
        List<Subject> subjects,
        List<String> locks,
        long durationNanos,
        long warmUpNanos,
        int repeat,
        OptionalDouble rate,
        List<Integer> depths,
        Cores cores,
        PrintWriter progress) {
    boolean measuresLock(String name) {
        return locks.isEmpty() || locks.contains(name);
    }

    void say(String text) {
        progress.println(text);
        progress.flush();
    }
}
