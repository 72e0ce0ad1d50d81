package dev.rackcall.route;

import dev.rackcall.shm.os.BootId;
import dev.rackcall.shm.pool.Pool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Names of memory in announcements. A host's memory is named by its runtime folder: a process that sees the same
 * directory in the same boot, under any path, can map the memory of connections there. A pool is named by its
 * instance.
 */
final class MemoryNames {
    static final String HOST = "host:";
    static final String POOL = "pool:";
    /** Identifies a server in a runtime folder or a pool. */
    static final String SERVER = "server:";

    private MemoryNames() {}

    /** The name of a runtime folder; empty if there is none. */
    static Optional<String> host(Path folder) {
        try {
            long device = ((Number) Files.getAttribute(folder, "unix:dev")).longValue();
            long file = ((Number) Files.getAttribute(folder, "unix:ino")).longValue();
            return Optional.of(HOST + Long.toHexString(BootId.current().bits()) + "-" + Long.toHexString(device) + "-"
                    + Long.toHexString(file));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    static String pool(Pool pool) {
        return POOL + Long.toHexString(pool.instanceId());
    }
}
