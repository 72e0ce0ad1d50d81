package dev.rackcall.rpc.shm.server;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.file.Unmapping;
import java.util.List;

/**
 * The arena of a channel's temporary scopes, which no client maps. Made when a handler first requests such a scope.
 * Thread-safe.
 */
final class Scratch implements AutoCloseable {
    private static final int OWNER = 1;
    private static final long FIRST_BYTES = 64 << 10;
    private static final String WHEN_FULL =
            "use less memory in temporary scopes at once, or raise the server's sharedQuota";

    private final String channel;
    private final int id;
    private final long quota;
    private volatile Arena arena;
    private SharedFile file;
    private Mapping mapping;
    private boolean closed;

    Scratch(String channel, int id, long quota) {
        this.channel = channel;
        this.id = id;
        this.quota = quota;
    }

    Arena arena() {
        Arena present = arena;
        return present == null ? open() : present;
    }

    private synchronized Arena open() {
        if (closed) {
            throw new IllegalStateException(
                    "channel " + channel + " was closed, so its handlers have no temporary scopes");
        }
        if (arena == null) {
            try {
                file = SharedFile.memfd("rackcall" + channel + "-scratch", quota);
                mapping = file.map();
                arena = Arena.create(
                        new ArenaSpec(id, mapping.memory(), file, 0, TableHome.PRIVATE, OWNER, FIRST_BYTES, WHEN_FULL));
            } catch (RuntimeException | Error e) {
                // The next request tries again; there may be memory by then.
                giveBack();
                throw e;
            }
        }
        return arena;
    }

    private void giveBack() {
        if (mapping != null) {
            Unmapping.of(List.of(mapping), file::close);
        } else if (file != null) {
            file.close();
        }
        mapping = null;
        file = null;
    }

    @Override
    public synchronized void close() {
        closed = true;
        giveBack();
    }
}
