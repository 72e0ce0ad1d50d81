package dev.rackcall.route;

import dev.rackcall.directory.Directory;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;

/** This process's membership in a directory: one for all its channels and servers that name the same. Closed by the last of them. */
final class SharedDirectory implements AutoCloseable {
    private static final Map<URI, SharedDirectory> OPEN = new HashMap<>();

    private final URI address;
    private final Directory directory;
    /** Under the lock of {@link #OPEN}. */
    private int users;

    private SharedDirectory(URI address) {
        this.address = address;
        this.directory = Directory.open(address);
    }

    /** The caller closes it once. Who comes while another member joins waits for that, at most as long as the directory's time limit. */
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
