package dev.rackcall.rpc.shm.server;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;

/**
 * The memory of a connection at its server.
 *
 * @param file closed when the memory is unmapped
 * @param wall what the handlers of the client's calls run behind
 * @param onRelease called when nothing is mapped any more
 */
record ServerMemory(
        SharedFile file, Mapping mapping, HandlerWalls.Wall wall, Arena requests, Arena replies, Runnable onRelease) {
    /** Control region, request arena, reply arena. */
    MemorySegment all() {
        return mapping.memory();
    }
}
