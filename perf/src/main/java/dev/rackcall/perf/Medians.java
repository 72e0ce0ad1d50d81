package dev.rackcall.perf;

import java.util.Arrays;

/** The middle of some values. */
final class Medians {
    private Medians() {}

    /** The median; the mean of the two in the middle if their number is even; 0 if there are none. */
    static double of(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        if (sorted.length == 0) {
            return 0;
        }
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
