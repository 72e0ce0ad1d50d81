package dev.rackcall.cli.top;

import java.nio.file.Path;

/**
 * Memory of Rackcall's that a process holds.
 *
 * @param file which file it is, the same for all processes that share it
 * @param name as the process that made it has named it, without {@code rackcall}; a connection's is its channel
 * @param path at which it can be opened
 * @param bytes that take memory now
 */
record HeldMemory(FileId file, String name, Path path, long bytes) {
    /** A file of this host. */
    record FileId(long device, long inode) {}

    /** Whether it is that of a channel, which may be a connection's. */
    boolean isOfChannel() {
        return name.startsWith("/");
    }
}
