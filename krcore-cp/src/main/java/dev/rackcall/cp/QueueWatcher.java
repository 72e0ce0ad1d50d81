package dev.rackcall.cp;

/** Hears that there is something to take from a virtual queue. */
@FunctionalInterface
interface QueueWatcher {
    /** Nobody wants to know: who uses the queue looks by itself. */
    QueueWatcher NOBODY = queue -> {};

    /** Called with the queue's monitor and perhaps the lane's. */
    void changed(LocalQueue queue);
}
