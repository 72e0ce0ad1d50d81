package dev.rackcall.route;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Which of several lines a call takes. */
final class SubchannelPicker {
    private SubchannelPicker() {}

    /**
     * The one with the fewest calls under way; of several of those by chance, and more often the one whose server has less to do ({@link Subchannel#weight}); one that fails often only if there is no
     * other. What this channel has under way it knows at once, and of the rest only what servers have told, so that comes second.
     *
     * @param tried by this call, without success: only if there is no other
     */
    static Subchannel pick(Subchannel[] lines, List<Subchannel> tried) {
        if (lines.length == 1) {
            return lines[0];
        }
        Subchannel best = null;
        long bestCost = Long.MAX_VALUE;
        double weights = 0;
        for (Subchannel line : lines) {
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
                weights = line.weight();
            } else if (cost == bestCost) {
                // Each of those that are as good ends up as the best with its share of the weights.
                weights += line.weight();
                if (ThreadLocalRandom.current().nextDouble() * weights < line.weight()) {
                    best = line;
                }
            }
        }
        return best;
    }
}
