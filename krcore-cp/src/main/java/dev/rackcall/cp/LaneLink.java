package dev.rackcall.cp;

import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.WorkRequest;

/** A lane's queue pair, and how it is brought to life. */
interface LaneLink {
    QueuePair queuePair();

    /** Says in the request where it goes. Called with the lane's monitor. */
    void address(WorkRequest request, Peer peer);

    /** Makes the queue pair work, again if it did before, and then calls {@link Lane#resume} or {@link Lane#fail}, now or later. Called with the lane's monitor. */
    void restart(Lane lane);
}
