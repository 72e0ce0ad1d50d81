package dev.rackcall.route;

import dev.rackcall.directory.Directory;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;

/**
 * This process's membership in a directory, shared by all its channels and servers with that address. The last user
 * closes it.
 */
final class SharedDirectory implements AutoCloseable {
    private static final Map<URI, SharedDirectory> OPEN = new HashMap<>();

    private final URI address;
    private final Directory directory;
    /** Guarded by the lock of {@link #OPEN}. */
    private int users;

    private SharedDirectory(URI address) {
        this.address = address;
        this.directory = Directory.open(address);
    }

    /** Each caller closes it once. Concurrent callers wait while it is opened, within the directory's time limit. */
    static SharedDirectory join(URI address) {
        synchronized (OPEN) {
            SharedDirectory shared = OPEN.get(address);
            if (shared == null) {
                shared = new SharedDirectory(address);
                OPEN.put(address, shared);
            }
            shared.users++;
            return shared;
        }
    }

    Directory directory() {
        return directory;
    }

    URI address() {
        return address;
    }

    @Override
    public void close() {
        synchronized (OPEN) {
            if (--users == 0) {
                OPEN.remove(address);
                directory.close();
            }
        }
    }
}
