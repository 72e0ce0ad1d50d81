package dev.rackcall.verbs.soft.responder;

import dev.rackcall.verbs.soft.wire.WireViolation;

/**
 * Counts a link's packets that suggest a guessing peer: packets for queue pairs that never existed or belong to other
 * peers, and packet numbers far from the expected one. Honest peers send a few of them, for example when a queue
 * pair is reconnected, so the count decays. Used by the thread that reads the link, or under its lock.
 */
final class WrongPackets {
    /** More than this many at once end the link. */
    static final int BOUND = 256;

    private int count;
    private long last;

    /** Counts a packet unless it repeats the last wrong one: a request of several frames, or one sent again. */
    void add(int queuePair, int detail) throws WireViolation {
        long packet = (long) queuePair << Integer.SIZE | Integer.toUnsignedLong(detail);
        if (count > 0 && packet == last) {
            return;
        }
        last = packet;
        count++;
        if (count > BOUND) {
            throw new WireViolation("more than " + BOUND + " wrong queue pairs or packet numbers");
        }
    }

    /** Forgets one. Called about ten times a second. */
    void decay() {
        count = Math.max(0, count - 1);
    }
}
