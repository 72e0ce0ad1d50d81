package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.ByteSize;
import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How much memory can still be reserved. If tmpfs reserves more pages than a control group or the host has, the kernel
 * kills processes instead of returning an error, whichever system call asks for the pages. Every reservation is
 * therefore checked here first, and {@link ReservationTurn} keeps other processes from reserving between the check and
 * the reservation. Thread-safe.
 */
final class MemoryBudget {
    private static final Path MEMINFO = Path.of("/proc/meminfo");

    /**
     * The smallest margin: memory that is never reserved. JVMs need some to report a refusal, and for the page tables
     * of what was reserved. Processes also take some without a check, by heaps that grow and by {@link #UNASKED}.
     */
    private static final long LEAST_MARGIN = 16L << 20;

    private static final long LARGEST_MARGIN = 1L << 30;

    /** The margin's part of a control group's limit. */
    private static final int MARGIN_SHARE = 16;

    /**
     * Reading the available memory takes about 100 us. It is read once for this many reserved bytes, and more often if
     * little is left.
     */
    private static final long MOST_UNASKED = 4L << 20;

    private static final int UNASKED_SHARE = 8;

    /** Bytes that this process may reserve before the next check. */
    private static final AtomicLong UNASKED = new AtomicLong(MOST_UNASKED);

    private MemoryBudget() {}

    /** Whether this many bytes can be reserved now. */
    private static boolean allows(long bytes) {
        long left = availableBytes() - margin() - bytes;
        UNASKED.set(Math.clamp(left / UNASKED_SHARE, 0, MOST_UNASKED));
        return left >= 0;
    }

    private static long margin() {
        long limit = ControlGroups.ofThisProcess().limitBytes().orElse(0);
        return Math.clamp(limit / MARGIN_SHARE, LEAST_MARGIN, LARGEST_MARGIN);
    }

    /** Bytes that the host and the container's control groups can still give; a large number if neither is known. */
    static long availableBytes() {
        return Math.min(hostBytes(MEMINFO), ControlGroups.ofThisProcess().availableBytes());
    }

    static long hostBytes(Path meminfo) {
        long free = 0;
        boolean known = false;
        for (String line : lines(meminfo)) {
            if (line.startsWith("MemAvailable:") || line.startsWith("SwapFree:")) {
                free += Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
                known |= line.startsWith("MemAvailable:");
            }
        }
        return known ? free : Long.MAX_VALUE;
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of();
        }
    }

    /**
     * Backs part of a file with memory (fallocate(2)).
     *
     * @throws OsException if the file system or the host has not enough; nothing else changes then
     */
    static boolean reserve(int fd, SharedFile.Kind kind, long offset, long length, String name) {
        if (kind != SharedFile.Kind.HUGE_MEMFD) {
            long missing = missing(FileStatus.of(fd, name), length);
            if (missing > 0 && UNASKED.addAndGet(-missing) < 0) {
                ReservationTurn turn = ReservationTurn.take();
                try {
                    if (!allows(missing)) {
                        throw refused(kind, length, name, Errno.ENOMEM);
                    }
                    // Committed within the turn: from then on other processes count these pages as used.
                    return commit(fd, kind, offset, length, name);
                } finally {
                    turn.close();
                }
            }
        }
        return commit(fd, kind, offset, length, name);
    }

    private static boolean commit(int fd, SharedFile.Kind kind, long offset, long length, String name) {
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

    /**
     * Upper bound of how many of these bytes still need memory. Memory reserved earlier, possibly by another process,
     * is already counted as used.
     */
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
                "the host or this container has " + ByteSize.describe(availableBytes())
                        + " left, of which " + ByteSize.describe(margin())
                        + " are kept for other needs: ask for less or free memory";
        };
        return new OsException("cannot reserve " + ByteSize.describe(length) + " of " + name, errno, advice);
    }
}
