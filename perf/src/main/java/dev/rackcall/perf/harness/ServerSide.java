package dev.rackcall.perf.harness;

/** The answering side of a subject; it answers from the moment it exists until it is closed. */
public interface ServerSide extends AutoCloseable {
    /**
     * Stops using the processor until {@link #resume}, while another subject is measured. For sides that do not do so
     * by themselves.
     */
    default void pause() {}

    /** Answers calls again. */
    default void resume() {}

    @Override
    void close();
}
