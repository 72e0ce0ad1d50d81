package dev.rackcall.cp.lane;

import java.util.List;

/**
 * The lanes that all peers with a DC target share. An initiator talks to one target at a time and waits for its replies
 * before it turns to the next; several initiators work in parallel. Each peer uses one lane, which keeps its requests
 * in order. Any thread may use it.
 */
final class SharedLanes {
    private final Lane[] lanes;
    /** Peers of each lane; guarded by the monitor. */
    private final int[] peers;

    private final LaneCompletions completions;

    SharedLanes(List<Lane> lanes, LaneCompletions completions) {
        this.lanes = lanes.toArray(Lane[]::new);
        this.completions = completions;
        peers = new int[this.lanes.length];
    }

    /** The lane with the fewest peers, for one more. */
    synchronized Lane take() {
        int least = 0;
        for (int i = 1; i < lanes.length; i++) {
            least = peers[i] < peers[least] ? i : least;
        }
        peers[least]++;
        return lanes[least];
    }

    /** A peer that used this lane is gone. */
    synchronized void giveBack(Lane lane) {
        for (int i = 0; i < lanes.length; i++) {
            peers[i] -= lanes[i] == lane ? 1 : 0;
        }
    }

    /** Passes completions on; returns whether requests were in flight. */
    boolean pollIfBusy() {
        boolean busy = false;
        for (Lane lane : lanes) {
            busy |= lane.isBusy();
        }
        if (busy) {
            completions.poll();
        }
        return busy;
    }

    long recoveries() {
        long sum = 0;
        for (Lane lane : lanes) {
            sum += lane.recoveries();
        }
        return sum;
    }
}
