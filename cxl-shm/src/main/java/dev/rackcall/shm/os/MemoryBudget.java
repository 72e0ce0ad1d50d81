package dev.rackcall.shm.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/**
 * How much memory can still be reserved. Reserving more tmpfs pages than there is memory does not fail: it wakes the kernel's
 * out-of-memory killer. So large reservations are compared with this first.
 */
final class MemoryBudget {
    private static final Path MEMINFO = Path.of("/proc/meminfo");
    private static final Path CGROUP = Path.of("/sys/fs/cgroup");

    private MemoryBudget() {}

    /** Bytes that the host, and the control group of a container, can still give; a large number if neither says. */
    static long availableBytes() {
        return Math.min(hostBytes(MEMINFO), cgroupBytes(CGROUP));
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

    static long cgroupBytes(Path cgroup) {
        OptionalLong limit = number(cgroup.resolve("memory.max"));
        OptionalLong used = number(cgroup.resolve("memory.current"));
        if (limit.isEmpty() || used.isEmpty()) {
            return Long.MAX_VALUE;
        }
        long reclaimable = lines(cgroup.resolve("memory.stat")).stream()
                .filter(line -> line.startsWith("inactive_file "))
                .mapToLong(line -> Long.parseLong(line.substring("inactive_file ".length())))
                .sum();
        return Math.max(0, limit.getAsLong() - used.getAsLong() + reclaimable);
    }

    private static OptionalLong number(Path file) {
        List<String> lines = lines(file);
        if (lines.isEmpty() || !lines.getFirst().chars().allMatch(Character::isDigit)) {
            return OptionalLong.empty();
        }
        return OptionalLong.of(Long.parseLong(lines.getFirst()));
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of();
        }
    }
}
