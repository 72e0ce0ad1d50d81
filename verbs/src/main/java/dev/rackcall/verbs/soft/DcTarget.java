package dev.rackcall.verbs.soft;

import java.util.Optional;

/** Whom a DC initiator talks to now. Guarded by the queue pair's monitor. */
final class DcTarget {
    private Optional<RequesterLink> link = Optional.empty();
    private int queuePair;
    private long key;
    private long first;

    boolean is(RequesterLink way, SendSlot slot) {
        return link.isPresent()
                && link.get() == way
                && queuePair == slot.destinationQueuePair
                && key == slot.destinationKey;
    }

    void set(RequesterLink way, SendSlot slot, long position) {
        link = Optional.of(way);
        queuePair = slot.destinationQueuePair;
        key = slot.destinationKey;
        first = position;
    }

    /** Whether the request at this position opens the conversation. */
    boolean isFirst(long position) {
        return position == first;
    }

    void forget(RequesterLink way) {
        if (link.isPresent() && link.get() == way) {
            clear();
        }
    }

    void clear() {
        link = Optional.empty();
    }
}
