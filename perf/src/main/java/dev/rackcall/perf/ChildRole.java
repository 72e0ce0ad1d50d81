package dev.rackcall.perf;

/** What a measured JVM is. */
enum ChildRole {
    /** Answers calls until it is told to quit. */
    SERVER,
    /** Calls as it is told. */
    CLIENT,
    /** Connects, calls once, says when the reply came, and ends. */
    FIRST_CALL
}
