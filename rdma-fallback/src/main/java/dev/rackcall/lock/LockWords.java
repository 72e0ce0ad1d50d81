package dev.rackcall.lock;

/**
 * How a thread reaches the words of a lock table: by the processor or by a queue pair. Offsets are bytes from the
 * table's start, multiples of 8. A given word is compared and set by only one of the two kinds; the other only reads
 * it.
 */
interface LockWords {
    /** The most lines for one {@link #look(long, int)}. */
    int MOST_LINES = 16;

    /** Reads with acquire. */
    long load(long offset);

    /** Writes with release. By RDMA the write may be delayed until the thread's next request other than a store. */
    void store(long offset, long value);

    /** Writes so that the thread's later reads come after it. */
    void publish(long offset, long value);

    /**
     * Returns the former value: {@code expected} if and only if {@code desired} was written. Earlier stores come before
     * it.
     */
    long compareAndSwap(long offset, long expected, long desired);

    /** {@link #compareAndSwap} and then {@link #look}, in one round trip. */
    long compareAndSwapAndLook(long offset, long expected, long desired, long line);

    /**
     * {@link #compareAndSwap} of the state of a waiter's descriptor; on success rings the waiter's bell, if it has a
     * reachable one.
     */
    long grant(long descriptor, long waits, long granted, long ring);

    /** Writes this thread's bell into a descriptor that it has claimed. */
    void introduce(long descriptor);

    /** Whether this thread has a bell. If so, it waits at the bell and reads the table only at intervals. */
    boolean hasBell();

    /** The last value rung. */
    long rung();

    /** Reads this line of 64 bytes for {@link #seen}. */
    void look(long line);

    /** The same for several lines, {@link #MOST_LINES} at most. */
    void look(long line, int lines);

    /** A word of the line that was last read, as it was then or is now. */
    long seen(long offset);

    /** Sends delayed stores. */
    void flush();

    /** Whether a look costs a round trip. */
    boolean isRemote();
}
