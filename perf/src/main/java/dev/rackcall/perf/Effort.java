package dev.rackcall.perf;

import java.util.List;

/**
 * How long and how often something is measured.
 *
 * @param durationNanos length of one measurement
 * @param warmUpNanos the most that a warm-up may take
 * @param repeat how often, each time in fresh JVMs
 */
record Effort(long durationNanos, long warmUpNanos, int repeat) {
    private static final long MILLI = 1_000_000;

    private static final Effort REPEATED = new Effort(1_000 * MILLI, 3_000 * MILLI, 3);
    private static final Effort ONCE = new Effort(1_000 * MILLI, 3_000 * MILLI, 1);
    /** Of some seventy subjects, most of them compared turn by turn: some five minutes on two processors. */
    private static final Effort MANY = new Effort(500 * MILLI, 800 * MILLI, 1);

    /** Where nobody says otherwise. */
    static Effort usualFor(List<Target> targets) {
        if (targets.isEmpty()) {
            return ONCE;
        }
        return targets.stream().allMatch(Target.ISOLATION::equals) ? MANY : REPEATED;
    }
}
