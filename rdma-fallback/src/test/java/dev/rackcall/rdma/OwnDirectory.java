package dev.rackcall.rdma;

import java.nio.file.Path;

/** The runtime folder of servers of this JVM, since tests of other JVMs serve the same channels at the same time. */
public final class OwnDirectory {
    private OwnDirectory() {}

    /** A folder that servers make and remove. */
    public static Path path() {
        return Path.of(
                System.getProperty("java.io.tmpdir"),
                "rackcall-test-" + ProcessHandle.current().pid());
    }
}
