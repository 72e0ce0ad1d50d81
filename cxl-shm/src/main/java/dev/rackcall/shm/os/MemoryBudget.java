package dev.rackcall.shm.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * How much memory can still be reserved. Reserving more tmpfs pages than there is memory does not fail: it wakes the kernel's
 * out-of-memory killer. So large reservations are compared with this first.
 */
final class MemoryBudget {
    private static final Path MEMINFO = Path.of("/proc/meminfo");

    private MemoryBudget() {}

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
