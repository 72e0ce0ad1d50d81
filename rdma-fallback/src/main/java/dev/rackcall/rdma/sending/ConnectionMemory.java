package dev.rackcall.rdma.sending;

import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.MemoryRegion;

/** What the device knows of one end's memory. Thread-safe. */
public interface ConnectionMemory {
    /** The connection's memory. */
    MemoryRegion region();

    /**
     * Lets the device use a file of this process, from the connection's other requests too. May wait for an agent's process, which reserves all of the file. The file stays the caller's, who may close
     * it; the region ends with this memory.
     *
     * @throws RuntimeException {@link dev.rackcall.shm.os.OsException} if the file cannot be mapped; {@link dev.rackcall.verbs.VerbsException} or {@link dev.rackcall.cp.ControlPlaneException} if the device may know
     *     no more, or this memory was given back meanwhile
     */
    MemoryRegion own(SharedFile file);
}
