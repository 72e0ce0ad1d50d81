package dev.rackcall.shm.os.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How much memory can still be reserved. Reserving more tmpfs pages than there is memory does not fail: it wakes the kernel's
 * out-of-memory killer. So every reservation asks here first. Thread-safe.
 */
final class MemoryBudget {
    private static final Path MEMINFO = Path.of("/proc/meminfo");

    /** What is left alone: the JVM needs some to tell of the refusal, and others take some before they ask again. */
    static final long MARGIN = 16L << 20;

    /** Reading what is left takes some 100 us. So it is done once for this many bytes, or more often where less is left. */
    private static final long MOST_UNASKED = 4L << 20;

    private static final int UNASKED_SHARE = 8;

    /** Bytes that this process may reserve before it asks again. */
    private static final AtomicLong UNASKED = new AtomicLong(MOST_UNASKED);

    private MemoryBudget() {}

    /** Whether so many bytes can be reserved; counts them as reserved if so. */
    static boolean allows(long bytes) {
        if (UNASKED.addAndGet(-bytes) >= 0) {
            return true;
        }
        long left = availableBytes() - MARGIN - bytes;
        UNASKED.set(Math.clamp(left / UNASKED_SHARE, 0, MOST_UNASKED));
        return left >= 0;
    }

    /** Bytes that the host, and the control groups of a container, can still give; a large number if neither says. */
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
}
