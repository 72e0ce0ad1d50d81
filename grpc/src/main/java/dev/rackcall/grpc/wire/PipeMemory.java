package dev.rackcall.grpc.wire;

import dev.rackcall.rpc.shm.notes.PipeNote;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;

/**
 * An end's memory of a connection, mapped. Its file stays open as long, because observers such as {@code rackcall top}
 * find memory by its descriptors.
 */
final class PipeMemory implements AutoCloseable {
    private final SharedFile file;
    private final Mapping mapping;

    private PipeMemory(SharedFile file, Mapping mapping) {
        this.file = file;
        this.mapping = mapping;
    }

    /**
     * Makes the memory of a new connection.
     *
     * @throws OsException if the host has no memory or no descriptor left
     */
    static PipeMemory create(String channel) {
        return of(SharedFile.memfd(PipeNote.NAME + channel, PipeLayout.FILE_BYTES));
    }

    /**
     * Reserves and maps the memory: a device could not report later that the host has run out.
     *
     * @param file closed with this memory, or if this fails
     * @throws OsException if the host has no memory left
     */
    static PipeMemory of(SharedFile file) {
        try {
            file.reserve(0, file.bytes());
            return new PipeMemory(file, file.map());
        } catch (RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    SharedFile file() {
        return file;
    }

    /** Alive until {@link #close}. */
    MemorySegment memory() {
        return mapping.memory();
    }

    @Override
    public void close() {
        try {
            mapping.close();
        } finally {
            file.close();
        }
    }
}
