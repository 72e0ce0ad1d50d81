package dev.rackcall.lock;

/** A descriptor of the table as its session knows it. Confined to the session's thread. */
final class LockDescriptor {
    final int number;
    /** The reference to its current generation. */
    long own;
    /** The lock it is used for. */
    long line;
    /** What was last written as its predecessor; -1 if that is not known. */
    long previous = -1;
    /** Whether a successor may have been written. */
    boolean linked = true;
    /** The lock that it can be used for again unchanged while it is unused; -1 if none. */
    long readyFor = -1;

    boolean used;
    /** Of an {@link OpenUnlock}: still used, but its lock is not held any more. */
    boolean leaves;

    LockDescriptor(int number) {
        this.number = number;
    }
}
