package dev.rackcall.rpc.shm.view;

import dev.rackcall.shm.os.file.ObservedFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;

/** The memory of an arena of other processes that lies in no connection's memory, such as a channel's shared arena. */
public final class ArenaMemory {
    private ArenaMemory() {}

    /**
     * Reads the header of an arena, and closes the file.
     *
     * @param path of a process's descriptor, {@code /proc/PID/fd/N}
     * @return empty if no arena begins there, or its numbers make no sense
     * @throws IOException if the file cannot be opened or read
     */
    public static Optional<ArenaReading> read(Path path) throws IOException {
        ObservedFile file = ObservedFile.open(path);
        try (Arena lifetime = Arena.ofConfined()) {
            MemorySegment header = lifetime.allocate(ArenaReading.HEADER_BYTES, Long.BYTES);
            file.read(header.asByteBuffer(), 0);
            return ArenaReading.of(header, file.bytes());
        } finally {
            file.close();
        }
    }
}
