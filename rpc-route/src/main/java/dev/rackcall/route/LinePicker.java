package dev.rackcall.route;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Which of several lines a call takes. */
final class LinePicker {
    private LinePicker() {}

    /**
     * The one with the fewest calls under way, from anywhere on; of those that fail often, only if there is no other.
     *
     * @param tried by this call, without success: only if there is no other
     */
    static Line pick(Line[] lines, List<Line> tried) {
        if (lines.length == 1) {
            return lines[0];
        }
        Line best = null;
        long bestCost = Long.MAX_VALUE;
        int start = ThreadLocalRandom.current().nextInt(lines.length);
        for (int i = 0; i < lines.length; i++) {
            Line line = lines[(start + i) % lines.length];
            long cost = line.calls();
            if (line.isEjected()) {
                cost += 1L << 32;
            }
            if (!line.isUsable()) {
                cost += 1L << 33;
            }
            if (!tried.isEmpty() && tried.contains(line)) {
                cost += 1L << 34;
            }
            if (cost < bestCost) {
                bestCost = cost;
                best = line;
            }
        }
        return best;
    }
}
