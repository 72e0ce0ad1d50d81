package dev.rackcall.cp.lane;

import dev.rackcall.cp.control.DcTarget;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.cp.request.PeerHost;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.WorkRequest;

/** A lane's queue pair, and how it is connected. */
interface LaneQueuePair {
    QueuePair queuePair();

    /** Sets the request's destination. Called with the lane's monitor. */
    void address(WorkRequest request, PeerHost peer);

    /**
     * Connects or reconnects the queue pair, and then calls {@link Lane#resume} or {@link Lane#fail}, perhaps on
     * another thread. Called with the lane's monitor.
     */
    void restart(Lane lane);

    /** A DC initiator: one queue pair to many peers. */
    record Initiator(HostDevice end, QueuePair queuePair) implements LaneQueuePair {
        @Override
        public void address(WorkRequest request, PeerHost peer) {
            DcTarget target = peer.target();
            request.toTarget(target.handle(), target.number(), target.key());
        }

        @Override
        public void restart(Lane lane) {
            queuePair.toReset();
            end.startInitiator(queuePair);
            lane.resume();
        }
    }
}
