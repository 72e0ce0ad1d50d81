package dev.rackcall.rdma;

import java.nio.file.Path;

/** Where servers of this JVM have their doors on this host: tests of other JVMs serve the same channels at the same time. */
public final class OwnDirectory {
    private OwnDirectory() {}

    /** A folder that servers make and remove. */
    public static Path path() {
        return Path.of(
                System.getProperty("java.io.tmpdir"),
                "rackcall-test-" + ProcessHandle.current().pid());
    }
}
