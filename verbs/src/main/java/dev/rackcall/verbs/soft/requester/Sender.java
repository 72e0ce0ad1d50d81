package dev.rackcall.verbs.soft.requester;

import dev.rackcall.verbs.soft.wire.SendBuffer;
import dev.rackcall.verbs.soft.wire.WireViolation;
import java.lang.foreign.MemorySegment;

/** A requester as its links see it. A link has a queue of the senders that have requests for it. */
public abstract class Sender {
    /** The result of {@link #transmit}. */
    enum Progress {
        /** Nothing more can be sent now. An answer, a timer or a new request continues the sending. */
        IDLE,
        /** The buffer is full. */
        FULL,
        /** The next request uses another link. */
        ELSEWHERE
    }

    private RequesterLink queuedAt;

    Sender() {}

    /** Enters this link's queue. Returns false if it is already in the queue. Called with the queue's monitor held. */
    final boolean enterRow(RequesterLink link) {
        boolean fresh = queuedAt != link;
        queuedAt = link;
        return fresh;
    }

    /** Leaves the link's queue. */
    final void leaveRow() {
        queuedAt = null;
    }

    /** Adds frames to the buffer while there are requests that may use this link. */
    abstract Progress transmit(RequesterLink link, SendBuffer out);

    /** Sends unsent requests over the link that the next one uses. Never called with a monitor held. */
    abstract void pushUnsent();

    /** Whether this link carries the requests that wait for answers. */
    abstract boolean expectsAnswersOver(RequesterLink link);

    /**
     * Handles a responder's answer. Returns the nanoseconds after which to call {@link #resume}; negative if not at
     * all.
     */
    abstract long answered(MemorySegment frame, long at, int length) throws WireViolation;

    /** Continues after the pause that followed a refusal. */
    abstract void resume();
}
