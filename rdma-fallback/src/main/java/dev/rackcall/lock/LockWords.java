package dev.rackcall.lock;

/**
 * How a thread reaches the words of a lock table: by the processor or by a queue pair. Offsets are bytes from the table's start, multiples of 8. Whoever
 * compares and sets a word is always of one kind; the other kind only reads it.
 */
interface LockWords {
    /** That can be looked at together. */
    int MOST_LINES = 16;

    /** Reads with acquire. */
    long load(long offset);

    /** Writes with release. By RDMA it may stay here until this thread does something else than storing. */
    void store(long offset, long value);

    /** Writes so that what this thread reads afterwards is read after it. */
    void publish(long offset, long value);

    /** Returns what was there: {@code expected} if and only if it is {@code desired} now. What was stored before is there before. */
    long compareAndSwap(long offset, long expected, long desired);

    /** As {@link #compareAndSwap}, and {@link #look} behind it, in one go. */
    long compareAndSwapAndLook(long offset, long expected, long desired, long line);

    /** As {@link #compareAndSwap} with the state of a waiter's descriptor; if that succeeds his bell rings, should he have one that can be reached. */
    long grant(long descriptor, long waits, long granted, long ring);

    /** Writes into a descriptor that this thread has claimed how its bell is rung. */
    void introduce(long descriptor);

    /** Whether this thread has a bell: then what it waits for is to be looked for there, and here only now and then. */
    boolean hasBell();

    /** What was rung last. */
    long rung();

    /** Lets {@link #seen} give the words of this line of 64 bytes. */
    void look(long line);

    /** The same for so many lines, {@link #MOST_LINES} at most. */
    void look(long line, int lines);

    /** A word of what was looked at last, as it was then or is now. */
    long seen(long offset);

    /** Lets what was stored be on its way. */
    void flush();

    /** Whether looking costs a round trip. */
    boolean isRemote();
}
