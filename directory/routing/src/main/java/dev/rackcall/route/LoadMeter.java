package dev.rackcall.route;

import java.util.OptionalInt;

/** What a server tells others of its load: how many calls were under way there, on average of a while, since a single look at short calls says nothing. One thread at a time. */
final class LoadMeter {
    /** Of which the average is told. */
    static final int LOOKS = 10;

    private int looks;
    private long sum;

    /** Takes in what was seen now; returns the average, rounded, when it has seen enough, and begins anew. */
    OptionalInt see(int calls) {
        sum += calls;
        if (++looks < LOOKS) {
            return OptionalInt.empty();
        }
        int average = (int) ((sum + LOOKS / 2) / LOOKS);
        looks = 0;
        sum = 0;
        return OptionalInt.of(average);
    }

    /** Whether others are to be told: it differs by half, and by more than one, which an average that is rounded does for nothing. Each time is a write to the directory, and all who follow the channel hear of it. */
    static boolean isNews(int told, int now) {
        return Math.abs((long) now - told) > 1 && (2L * now > 3L * told || 3L * now < 2L * told);
    }
}
