package dev.rackcall.rpc.shm.view;

import java.io.IOException;
import java.util.List;

/** The memory of a connection between other processes, open for reading only. For one thread. */
public interface ObservedConnection extends AutoCloseable {
    /**
     * Reads the memory as it is now.
     *
     * @throws InvalidMemoryException if it makes no sense, even when it is read again
     */
    ConnectionReading read() throws IOException, InvalidMemoryException;

    /**
     * The connection's request arena and its reply arena, as they are now; empty if it has none, or their headers make no
     * sense. Called after {@link #read}.
     */
    List<ArenaReading> arenas() throws IOException;

    @Override
    void close() throws IOException;
}
