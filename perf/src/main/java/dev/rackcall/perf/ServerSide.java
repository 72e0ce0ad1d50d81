package dev.rackcall.perf;

/** The answering side of a subject; it answers from the moment it exists until it is closed. */
@FunctionalInterface
interface ServerSide extends AutoCloseable {
    @Override
    void close();
}
