package dev.rackcall.perf;

/** A node of the lock benchmark, as threads of all nodes see it: in this process, or in another one. */
interface LockHome {
    /** How many ALocks there are, and how many of each baseline. */
    int locks();

    /** The address of a baseline's lock. */
    long word(int index);

    /** The address of what a thread of this node waits for. */
    long thread(int thread);

    /** A way for one thread of a node of this process to this one, which may be the same: then it is a loopback. It is closed by that node. */
    LockPath pathFrom(LockNode own);
}
