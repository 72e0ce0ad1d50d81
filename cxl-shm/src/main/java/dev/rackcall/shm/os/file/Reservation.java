package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.ByteSize;
import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;

/** Puts memory behind a part of a file (fallocate(2)), or says why there is none. */
final class Reservation {
    private Reservation() {}

    /** @throws OsException if the file system or the host has not enough; nothing else changes then */
    static boolean make(int fd, SharedFile.Kind kind, long offset, long length, String name) {
        if (kind != SharedFile.Kind.HUGE_MEMFD) {
            long missing = missing(FileStatus.of(fd, name), length);
            if (missing > 0 && !MemoryBudget.allows(missing)) {
                throw refused(kind, length, name, Errno.ENOMEM);
            }
        }
        CallState state = CallState.current();
        int result;
        do {
            result = LibcFiles.fallocate(state.errnoSegment(), fd, 0, offset, length);
        } while (result != 0 && state.errno() == Errno.EINTR);
        if (result != 0) {
            throw refused(kind, length, name, state.errno());
        }
        return true;
    }

    /** At most so many of these bytes are to be found: what somebody has reserved before, perhaps in another process, is no longer among what is free. */
    static long missing(FileStatus file, long length) {
        return Math.clamp(file.bytes() - file.allocatedBytes(), 0, length);
    }

    private static OsException refused(SharedFile.Kind kind, long length, String name, int errno) {
        String advice = switch (kind) {
            case HUGE_MEMFD -> "the host has too few free huge pages: raise vm.nr_hugepages or use small pages";
            case FILE ->
                "its file system or the host is full, or ulimit -f forbids it: see df " + name
                        + ", enlarge it or ask for less";
            default ->
                "the host or this container has " + ByteSize.describe(MemoryBudget.availableBytes())
                        + " left, of which " + ByteSize.describe(MemoryBudget.MARGIN)
                        + " are kept for other needs: ask for less or free memory";
        };
        return new OsException("cannot reserve " + ByteSize.describe(length) + " of " + name, errno, advice);
    }
}
