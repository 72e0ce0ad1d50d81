package dev.rackcall.perf.alock;

/** A node of the lock benchmark, as threads of all nodes see it: in this process, or in another one. */
interface LockSite {
    /** The number of ALocks, and of locks of each baseline. */
    int locks();

    /** The address of a baseline's lock. */
    long word(int index);

    /** The address of the line at which a thread of this node waits. */
    long thread(int thread);

    /**
     * A path from one thread of a node of this process to this node; a loopback if both are the same node. {@code own}
     * closes it.
     */
    LockPath pathFrom(LockNode own);
}
