package dev.rackcall.cp.lane;

import dev.rackcall.cp.VirtualQueue;

/** The peer and the lane of a virtual queue of an agent in this process. */
public final class QueueLanes {
    private QueueLanes() {}

    public static LanePeer peer(VirtualQueue queue) {
        return ((LaneQueue) queue).peer();
    }

    public static Lane lane(VirtualQueue queue) {
        return peer(queue).lane();
    }
}
