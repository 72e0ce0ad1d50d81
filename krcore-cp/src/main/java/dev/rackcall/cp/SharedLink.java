package dev.rackcall.cp;

import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.WorkRequest;

/** A DC initiator: one queue pair to many peers. */
final class SharedLink implements LaneLink {
    private final QueuePair initiator;

    SharedLink(QueuePair initiator) {
        this.initiator = initiator;
    }

    @Override
    public QueuePair queuePair() {
        return initiator;
    }

    @Override
    public void address(WorkRequest request, Peer peer) {
        Target target = peer.target();
        request.toTarget(target.handle(), target.number(), target.key());
    }

    @Override
    public void restart(Lane lane) {
        initiator.toReset();
        DeviceEnd.startInitiator(initiator);
        lane.resume();
    }
}
