package dev.rackcall.lock;

/** A descriptor of the table, with its session's copy of its words. Confined to the session's thread. */
final class LockDescriptor {
    final int number;
    /** The reference to its current generation. */
    long own;
    /** The lock it is used for. */
    long line;
    /** The predecessor that was last written; -1 if unknown. */
    long previous = -1;
    /** Whether a successor may have been written. */
    boolean linked = true;
    /** While unused: the lock for which it can be used again unchanged; -1 if none. */
    long readyFor = -1;

    boolean used;
    /** Whether it belongs to an {@link OpenUnlock}: still used, but its lock is not held any more. */
    boolean leaves;

    LockDescriptor(int number) {
        this.number = number;
    }
}
