package dev.rackcall.cli.top;

import dev.rackcall.rpc.shm.notes.PoolNote;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Memory of Rackcall's that a process holds.
 *
 * @param file which file it is, the same for all processes that share it
 * @param name as the process that made it has named it, without its prefix, such as {@code rackcall} or {@code rackcall-grpc}; a connection's is its channel
 * @param isGrpc whether it is that of a gRPC connection
 * @param path at which it can be opened
 * @param bytes that take memory now; 0 in a pool, whose memory is there anyway
 * @param windows where a connection lies in a pool, for each end of it that the process has; empty outside pools
 */
record HeldMemory(FileId file, String name, boolean isGrpc, Path path, long bytes, List<PoolNote> windows) {
    /**
     * A file of this host, or a part of one.
     *
     * @param place of a connection in a pool's file; otherwise 0
     */
    record FileId(long device, long inode, long place) {
        @Override
        public String toString() {
            return device + "-" + inode + (place == 0 ? "" : "-" + place);
        }
    }

    boolean isInPool() {
        return !windows.isEmpty();
    }

    /** Whether the process has that end of a connection in a pool. */
    boolean isEnd(boolean isServer) {
        return windows.stream().anyMatch(window -> window.isServer() == isServer);
    }

    /** The same memory, found by another descriptor of its process, which may have both ends of a connection. */
    HeldMemory and(HeldMemory other) {
        if (other.windows.stream().allMatch(window -> isEnd(window.isServer()))) {
            return this;
        }
        List<PoolNote> both =
                Stream.concat(windows.stream(), other.windows.stream()).toList();
        return new HeldMemory(file, name, isGrpc, path, bytes, both);
    }

    /** Whether it is that of a channel, which may be a connection's. */
    boolean isOfChannel() {
        return name.startsWith("/");
    }
}
